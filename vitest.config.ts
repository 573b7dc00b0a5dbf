import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { projects } from './test/support/projects.mjs'

const root = fileURLToPath(new URL('.', import.meta.url))
/** What every project needs to know of our imports. */
export const shared = {
  resolve: { alias: { '@': root.replace(/\/$/, ''), 'server-only': `${root}test/support/server-only.ts` } },
}
const files = projects(root)
const unit = { testTimeout: 30_000, maxWorkers: 2, sequence: { groupOrder: 1 } }
const database = {
  globalSetup: ['test/support/global-setup.ts'],
  // Long, since other work may share the machine; what is there is found at once all the same.
  expect: { poll: { timeout: 15_000, interval: 25 } },
}

export default defineConfig({
  ...shared,
  test: {
    projects: [
      {
        ...shared,
        // The law of the house.
        test: { name: 'check', include: files.check, sequence: { groupOrder: 0 } },
      },
      {
        ...shared,
        // No database and no service; with `check`, the part of the suite that `npm run check` runs. Half of its time
        // would go into loading the same modules for each file anew.
        test: { ...unit, name: 'unit', include: files.unit, isolate: false },
      },
      {
        ...shared,
        // Those that set something for their process.
        test: { ...unit, name: 'unit alone', include: files['unit alone'] },
      },
      {
        ...shared,
        test: {
          ...database,
          name: 'main',
          include: files.main,
          testTimeout: 30_000,
          hookTimeout: 60_000,
          // Most wait for a database or a clock; by itself Vitest would use one worker on two cores.
          maxWorkers: 3,
          sequence: { groupOrder: 2 },
        },
      },
      {
        ...shared,
        // Against the built service in real processes; few at a time, since each brings its own.
        test: {
          ...database,
          name: 'service',
          include: files.service,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})
