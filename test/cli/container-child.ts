import { writeSync } from 'node:fs'
import { claimDataDir } from '@/cli/data-dir'
import { CannotStart } from '@/cli/print'
import { startTestRuntime } from '../support/runtime'

/*
 * A service in a container that shares its data folder: node container-child.ts <data folder> [<database url> <address
 * of effects> <runs to start>]. It reports the result of its claim of the folder, and when it executes runs, until it
 * is killed.
 */
const [dataDir = '', databaseUrl, effects = '', runs = '0'] = process.argv.slice(2)
const say = (what: object) => writeSync(1, `${JSON.stringify(what)}\n`)

try {
  const { owned } = await claimDataDir(dataDir, databaseUrl !== undefined)
  say({ pid: process.pid, owned })
  const runtime = databaseUrl ? await startTestRuntime(databaseUrl, { DATA_DIR: dataDir }) : undefined
  const step = { id: 'a', type: 'test-effect', url: effects }
  for (let n = 0; n < Number(runs); n++) await runtime?.start({ steps: [step] })
  if (runtime) say({ executes: true })
  await new Promise(() => setInterval(() => {}, 60_000))
} catch (error) {
  if (!(error instanceof CannotStart)) throw error
  say({ refused: error.message })
  process.exit()
}
