import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { shared } from './vitest.config'

/** Of `npm run soak` alone: `npm test` knows neither this file nor the scenarios. */
export default defineConfig({
  ...shared,
  root: fileURLToPath(new URL('.', import.meta.url)),
  test: {
    include: ['test/soak/**/*.soak.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // An hour: a scenario ends by itself long before, and one that hangs must not hold the machine for ever.
    testTimeout: 3_600_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
})
