import { accessSync, constants } from 'node:fs'
import { defineConfig } from '@playwright/test'

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

function chromium(): string | undefined {
  return process.env.CHROMIUM_PATH ?? CHROMIUM.find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const executablePath = chromium()

/**
 * Chromium renders two hidden pages for each window's address bar, even without a screen, which costs a seventh of the
 * specs' CPU time. Chromium only reads the last list, so this one repeats the important part of Playwright's own.
 */
const DISABLED = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
]

export default defineConfig({
  testDir: 'test/e2e',
  testMatch: '*.spec.ts',
  // Specs set up their data with the product's own verbs, so this maps `server-only` to an empty module.
  tsconfig: 'test/e2e/tsconfig.json',
  outputDir: 'test-results',
  globalSetup: './test/e2e/support/global-setup.ts',
  // A test that passes only on the second attempt has found a bug.
  retries: 0,
  // A worker often waits for the service or the browser: two leave part of two cores idle.
  workers: 3,
  fullyParallel: true,
  forbidOnly: Boolean(process.env.CI),
  // The time limit only ends a test that hangs; it measures nothing. A shared machine can take five times as long as a
  // quiet one. Playwright still finds an existing element at once.
  timeout: 300_000,
  expect: { timeout: 60_000 },
  reporter: 'list',
  use: {
    baseURL: process.env.BASE_URL,
    viewport: { width: 1440, height: 900 },
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    actionTimeout: 60_000,
    navigationTimeout: 90_000,
    // A trace copies the whole page before each action, which slows every test. Use `--trace on` for a single test.
    trace: 'off',
    screenshot: 'only-on-failure',
    launchOptions: {
      ...(executablePath ? { executablePath } : {}),
      // Chromium's sandbox refuses to run as root, which is the user in most containers.
      args: [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), `--disable-features=${DISABLED.join(',')}`],
    },
  },
})
