import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { projects } from './test/support/projects.mjs'

const root = fileURLToPath(new URL('.', import.meta.url))
/** Import settings that every project needs. */
export const shared = {
  resolve: { alias: { '@': root.replace(/\/$/, ''), 'server-only': `${root}test/support/server-only.ts` } },
}
const files = projects(root)
// How long a test may take says nothing about the product: it ends one that hangs. A slow machine that also builds and
// runs browsers can take twenty times as long as a quiet one.
const patience = {
  testTimeout: 120_000,
  hookTimeout: 180_000,
  // A condition that already holds is still seen at once.
  expect: { poll: { timeout: 60_000, interval: 25 } },
}
const unit = { ...patience, maxWorkers: 2, sequence: { groupOrder: 1 } }
const database = {
  globalSetup: ['test/support/global-setup.ts'],
}

const main = {
  ...patience,
  // Most tests wait for a database or a clock; by default Vitest would use only one worker on two cores.
  maxWorkers: 3,
  sequence: { groupOrder: 2 },
}

// Few at a time, because each brings its own processes.
const built = { ...patience, testTimeout: 240_000, hookTimeout: 240_000, maxWorkers: 2 }

/** One process for many files, each as if it were the first in it. */
const shares = { isolate: false, setupFiles: ['test/support/fresh-file.ts'] }
/** The same, and each loads the product again. Isolation would also load `node_modules` again. */
const alone = { isolate: false, setupFiles: ['test/support/fresh-file.ts', 'test/support/fresh-modules.ts'] }

/** They test what a process remembers, or count statements, of which it saves some. */
const MEMORY = ['remembered', 'statements'].map((name) => `test/interpreter/${name}.test.ts`)

export default defineConfig({
  ...shared,
  test: {
    projects: [
      {
        ...shared,
        // The architecture rules.
        test: { ...patience, name: 'check', include: files.check, sequence: { groupOrder: 0 } },
      },
      {
        ...shared,
        // Tests without a database or service. Together with `check`, this is the part of the suite that `npm run
        // check` runs. Isolation would double the time by loading the same modules again for each file.
        test: { ...unit, name: 'unit', include: files.unit, isolate: false },
      },
      {
        ...shared,
        // Unit tests that change their process, such as a setting.
        test: { ...unit, ...alone, name: 'unit alone', include: files['unit alone'] },
      },
      {
        ...shared,
        test: { ...database, ...main, ...shares, name: 'main', include: files.main },
      },
      {
        ...shared,
        // The interpreter without what a process remembers: the rows alone must do.
        test: {
          ...database,
          ...main,
          ...shares,
          name: 'main without recall',
          include: files.main.filter((file) => file.startsWith('test/interpreter/') && !MEMORY.includes(file)),
          env: { MILLRACE_TEST_RECALL: 'off' },
        },
      },
      {
        ...shared,
        // The same with a database.
        test: { ...database, ...main, ...alone, name: 'main alone', include: files['main alone'] },
      },
      {
        ...shared,
        // Against the built service in real processes.
        test: {
          ...database,
          ...built,
          ...alone,
          // They wait for half of their time.
          maxWorkers: 3,
          name: 'service',
          include: files.service,
          sequence: { groupOrder: 3 },
        },
      },
      {
        ...shared,
        // The same, while services are started, killed and stopped. Each file in a process of its own.
        test: {
          ...database,
          ...built,
          name: 'processes',
          include: files.processes,
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
})
