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
 * Chromium renders two hidden pages for the address bar of each window, even without a screen, which costs a seventh of
 * the specs' CPU time. It only reads the last list, so this one repeats what matters of Playwright's own.
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
  // A worker often waits for the service or the browser: two leave a part of two cores idle.
  workers: 3,
  fullyParallel: true,
  forbidOnly: Boolean(process.env.CI),
  // How long a test may take says nothing about the product: it ends one that hangs. A machine that is shared can take
  // five times as long as a quiet one. An element that is already there is still found at once.
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
