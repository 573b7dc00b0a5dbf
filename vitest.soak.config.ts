import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { shared } from './vitest.config'

/** For `npm run soak` only; `npm test` uses neither this file nor the scenarios. */
export default defineConfig({
  ...shared,
  root: fileURLToPath(new URL('.', import.meta.url)),
  test: {
    include: ['test/soak/**/*.soak.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // One hour. Scenarios end long before that; this stops one that hangs from holding the machine forever.
    testTimeout: 3_600_000,
    hookTimeout: 120_000,
    fileParallelism: false,
  },
})
