import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type HeldEffects, holdEffects } from '../interpreter/held'
import { type FreshDatabase, freshDatabase } from '../support/db'

const CHILD = fileURLToPath(new URL('./container-child.ts', import.meta.url))
/** As in a container, a process sees only its own numbers. */
const UNSHARE = ['--pid', '--fork', '--mount-proc', '--kill-child']
const possible = spawnSync('unshare', [...UNSHARE, 'true']).status === 0

interface Container {
  /** Its next message. */
  says(): Promise<Record<string, unknown>>
  kill(): Promise<void>
}

describe.skipIf(!possible)(
  `containers that share a data folder${possible ? '' : ' (skipped: unshare may not make PID namespaces here)'}`,
  () => {
    let database: FreshDatabase
    let effects: HeldEffects
    let dataDir: string
    const running = new Set<ChildProcess>()
    beforeAll(async () => {
      database = await freshDatabase({ max: 20 })
      effects = await holdEffects()
    })
    beforeEach(() => {
      dataDir = mkdtempSync(join(tmpdir(), 'millrace-shared-'))
    })
    afterEach(async () => {
      for (const child of running) child.kill('SIGKILL')
      rmSync(dataDir, { recursive: true, force: true })
    })
    afterAll(async () => {
      await effects?.stop()
      await database?.close()
    })

    function container(...args: string[]): Container {
      const command = [process.execPath, '--import', 'tsx', '--conditions=react-server', CHILD, dataDir, ...args]
      const child = spawn('unshare', [...UNSHARE, ...command], { stdio: ['pipe', 'pipe', 'inherit'] })
      running.add(child)
      const ended = new Promise<void>((done) => child.once('exit', () => done()))
      void ended.then(() => running.delete(child))
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
      return {
        says: async () => JSON.parse((await lines.next()).value ?? '{"gone":true}') as Record<string, unknown>,
        async kill() {
          child.kill('SIGKILL')
          await ended
        },
      }
    }

    test('on one database do no step twice, though their processes have the same numbers', async () => {
      const runs = 5
      const first = container(database.url, effects.url, String(runs))
      expect(await first.says()).toMatchObject({ owned: true, pid: 1 })
      expect(await first.says()).toEqual({ executes: true })
      while (effects.asked() < runs) await sleep(20)

      const second = container(database.url)
      expect(await second.says()).toMatchObject({ owned: false, pid: 1 })
      expect(await second.says()).toEqual({ executes: true })
      effects.release()
      const attempts = () => database.sql`select attempt from step_records where end_time is not null`
      while ((await attempts()).length < runs) await sleep(20)
      expect(await attempts()).toEqual(Array.from({ length: runs }, () => ({ attempt: 1 })))
      expect(effects.asked()).toBe(runs)
    })

    test('with a database inside it are refused while another runs there, and start once it was killed', async () => {
      const first = container()
      expect(await first.says()).toMatchObject({ owned: true })
      const second = container()
      expect(await second.says()).toEqual({
        refused: expect.stringMatching(
          /^Millrace already runs on .* in another container\)\. Stop it first, .* DATABASE_URL/,
        ),
      })
      const third = container()
      await first.kill()
      expect(await third.says()).toMatchObject({ owned: true })
    })
  },
)
