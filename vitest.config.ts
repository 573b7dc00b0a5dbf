import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { projects } from './test/support/projects.mjs'
import { sampled } from './test/support/sample.mjs'

const root = fileURLToPath(new URL('.', import.meta.url))
/** Import settings of every project. */
export const shared = {
  resolve: { alias: { '@': root.replace(/\/$/, ''), 'server-only': `${root}test/support/server-only.ts` } },
}
/** These test what a process remembers, or count statements, which its memory reduces. */
const MEMORY = ['remembered', 'statements', 'handover'].map((name) => `test/interpreter/${name}.test.ts`)
/** `MILLRACE_TEST_RECALL=off npm test` runs the suite in processes that remember nothing, without those of `MEMORY`. */
const files = projects(root, process.env.MILLRACE_TEST_RECALL === 'off' ? MEMORY : [])
// The time limit only ends a test that hangs; it measures nothing. A slow machine that also builds and runs browsers
// can take twenty times as long as a quiet one.
const patience = {
  testTimeout: 120_000,
  hookTimeout: 180_000,
  // A condition that already holds is seen immediately.
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

// Few at a time, because each starts processes.
const built = { ...patience, testTimeout: 240_000, hookTimeout: 240_000, maxWorkers: 2 }

/** One process for many files, each as if it were the first. */
const shares = { isolate: false, setupFiles: ['test/support/fresh-file.ts'] }
/** The same, and each file reloads the product. Isolation would also reload `node_modules`. */
const alone = { isolate: false, setupFiles: ['test/support/fresh-file.ts', 'test/support/fresh-modules.ts'] }

/** Those that pass as well when a process remembers nothing. */
const WITHOUT_RECALL = files.main.filter((file) => file.startsWith('test/interpreter/') && !MEMORY.includes(file))

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
        // The interpreter without a process's caches: the rows alone must suffice. Each commit runs a quarter of it.
        test: {
          ...database,
          ...main,
          ...shares,
          name: 'main without recall',
          include: sampled(WITHOUT_RECALL, 4),
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
          // They spend half of their time waiting.
          maxWorkers: 3,
          name: 'service',
          include: files.service,
          sequence: { groupOrder: 3 },
        },
      },
      {
        ...shared,
        // The same, while services are started, killed and stopped. A process per file.
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
