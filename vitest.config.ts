import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const root = fileURLToPath(new URL('.', import.meta.url))
/** What every project needs to know of our imports. */
export const shared = {
  resolve: { alias: { '@': root.replace(/\/$/, ''), 'server-only': `${root}test/support/server-only.ts` } },
}

export default defineConfig({
  ...shared,
  test: {
    projects: [
      {
        ...shared,
        // No database, no network: the part of the suite that `npm run check` runs in seconds.
        test: { name: 'check', include: ['test/*.test.ts'], sequence: { groupOrder: 0 } },
      },
      {
        ...shared,
        test: {
          name: 'main',
          include: ['test/*/**/*.test.ts'],
          exclude: ['test/recovery/**', 'test/api/**', 'test/cli/**'],
          globalSetup: ['test/support/global-setup.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
          // Most wait for a database or a clock; by itself Vitest would use one worker on two cores.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        ...shared,
        // Against the built service in real processes; few at a time, since each brings its own.
        test: {
          name: 'service',
          include: ['test/recovery/**/*.test.ts', 'test/api/**/*.test.ts', 'test/cli/**/*.test.ts'],
          globalSetup: ['test/support/global-setup.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
