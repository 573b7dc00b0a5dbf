import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { startEmbeddedPostgres } from '@/db/embedded'
import { temporaryDir } from '../support/postgres'
import { rounds } from '../support/rounds'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const RESTARTS = rounds(3, 30)

interface Tally {
  /** Exceptions that no caller could catch. */
  uncaught: number
  /** Transactions that neither finished nor failed within forty seconds. */
  hung: number
  committed: number
  failed: number
}

function ask(child: ChildProcess, message: string): Promise<Tally> {
  return new Promise((done) => {
    child.once('message', (tally) => done(tally as Tally))
    child.send(message)
  })
}

// Without patches/postgres+3.4.9+001+fixes.patch the driver writes to a closed connection, outside of any caller's
// reach.
test.each(['SIGINT', 'SIGKILL'] as const)(
  'a server that is ended by %s and started again under transactions breaks nothing but those under way',
  { timeout: 300_000 },
  async (signal) => {
    const home = temporaryDir()
    const start = () => startEmbeddedPostgres({ dataDir: join(home, 'postgres'), log: () => {} })
    let server = await start()
    onTestFinished(async () => {
      await server.stop()
      rmSync(home, { recursive: true, force: true, maxRetries: 5 })
    })
    const child: ChildProcess = spawn(process.execPath, ['--import', 'tsx', 'test/db/restart-child.ts', server.url], {
      cwd: ROOT,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    await new Promise((done) => child.once('message', done))
    for (let restart = 0; restart < RESTARTS; restart++) {
      const { committed } = await ask(child, 'tally')
      await expect
        .poll(async () => (await ask(child, 'tally')).committed, { interval: 20 })
        .toBeGreaterThan(committed + 30)
      process.kill(server.pid, signal)
      await server.exited
      server = await start()
    }
    await ask(child, 'stop')
    const tally = await new Promise<Tally>((done) => child.once('message', (message) => done(message as Tally)))
    expect(tally).toMatchObject({ uncaught: 0, hung: 0 })
    expect(tally.failed).toBeGreaterThan(0)
  },
)
