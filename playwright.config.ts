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

export default defineConfig({
  testDir: 'test/e2e',
  testMatch: '*.spec.ts',
  // Specs make what they need with the product's own verbs, so `server-only` is nothing here.
  tsconfig: 'test/e2e/tsconfig.json',
  outputDir: 'test-results',
  globalSetup: './test/e2e/support/global-setup.ts',
  // A test that passes at the second attempt has found something.
  retries: 0,
  workers: 2,
  fullyParallel: true,
  forbidOnly: Boolean(process.env.CI),
  timeout: 90_000,
  // Long, since other work may share the machine; what is there is found at once all the same.
  expect: { timeout: 20_000 },
  reporter: 'list',
  use: {
    baseURL: process.env.BASE_URL,
    viewport: { width: 1440, height: 900 },
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    actionTimeout: 20_000,
    navigationTimeout: 45_000,
    // A trace copies the whole page before each action, which slows every test down; `--trace on` for one of them.
    trace: 'off',
    screenshot: 'only-on-failure',
    launchOptions: {
      ...(executablePath ? { executablePath } : {}),
      // Chromium's own sandbox refuses to run as root, as in most containers.
      args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
    },
  },
})
