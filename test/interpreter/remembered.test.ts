import { afterAll, beforeAll, expect, test } from 'vitest'
import { database as processDatabase } from '@/server/database'
import { recall } from '@/server/interpreter/run-memory'
import type { PresentedRun } from '@/server/runs/present'
import { startAndWait } from '@/server/runs/start-and-wait'
import { getRunStatus } from '@/server/runs/status'
import { setVaultSecret } from '@/server/vault/set'
import { createWorkflow } from '@/server/workflows/create'
import { Dice, definitionOf, randomGraph } from '../graphs/generate'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { rounds } from '../support/rounds'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

// Who waits for a run is answered from what its process wrote. That must be, byte for byte, what a read would give.

let database: FreshDatabase
let runtime: TestRuntime
let effects: EffectServer
/** The reads of whole runs so far. */
let reads = 0
/** How often the next calls of `/flaky` fail. */
let failing = 0

beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
  effects = await startEffects(({ path }) => {
    if (path === '/flaky' && failing-- > 0) return { status: 503 }
    if (path === '/odd') return { body: { zz: { bb: 1, a: [{ yy: null, x: 1e21 }] }, '10': -0, é: '𝒳', a: 0.1 } }
    return path === '/secret' ? { body: { said: 'it is sesame-open-1234, no more' } } : { status: 422 }
  })
  runtime = await startTestRuntime(database.url)
  const { sql } = processDatabase()
  Object.assign(sql.options, {
    debug: (_connection: number, text: string) => (reads += text.includes('"weight"') ? 1 : 0),
  })
  await setVaultSecret(runtime.ctx, { name: 'DOOR', value: 'sesame-open-1234', hosts: ['example.com'] })
})
afterAll(async () => {
  await runtime.stop()
  await effects.stop()
  await database.close()
}, 900_000)

/** What the caller of a start is told, and whether without a read. */
async function told(definition: object, body: object = {}): Promise<{ run: PresentedRun; remembered: boolean }> {
  const { id } = await createWorkflow(runtime.ctx, { name: 'Told', ...definition })
  const before = reads
  const { run } = await startAndWait(runtime.ctx, {
    workflowId: id,
    body,
    prefer: 'wait=20',
    signal: new AbortController().signal,
  })
  return { run, remembered: reads === before }
}

async function expectAsRead(run: PresentedRun): Promise<void> {
  expect(JSON.stringify(run)).toBe(JSON.stringify(await getRunStatus(runtime.ctx, { runId: run.runId })))
}

const call = (id: string, path: string, more: object = {}) => ({
  id,
  type: 'test-effect',
  url: effects.url + path,
  ...more,
})
const line = (...steps: { id: string }[]) => ({
  steps,
  edges: steps.slice(1).map(({ id }, index) => ({ from: steps[index]?.id, to: id })),
})
const END = { id: 'end', type: 'end-flow', output: { zz: '${zz}', first: { b: 1, a: '${n}' } } }
const START = { payload: { n: { type: 'number' } } }

test.each([
  ['computes only', () => line({ id: 'set', type: 'set-data', values: { zz: { b: 2, a: '${n}' } } } as never, END)],
  ['calls others', () => line(call('a', 'odd'), call('b', 'odd', { saveAs: 'again' }), END)],
  [
    'has a name and a value of the vault in it',
    () => line(call('a', 'secret', { name: 'Say sesame-open-1234' }), call('b', 'odd'), END),
  ],
  ['fails', () => line(call('a', 'odd'), call('b', 'no'), END)],
  [
    'fails where it computes',
    () => line(call('a', 'odd'), { id: 'bad', type: 'set-data', compute: { x: '1 / 0' } } as never),
  ],
  [
    'goes on after a failure',
    () => ({
      steps: [call('a', 'no'), call('b', 'odd'), call('mend', 'odd')],
      edges: [
        { from: 'a', to: 'b' },
        { from: 'a', to: 'mend', on: 'error' },
      ],
    }),
  ],
  [
    'tries a step again',
    () => {
      failing = 1
      return line(call('a', 'flaky', { retry: { maxAttempts: 3, delayMs: 1 } }), call('b', 'odd'), END)
    },
  ],
])('a run that %s is answered from memory as a read would answer it', async (_what, definition) => {
  const once = async () => {
    const { run, remembered } = await told({ ...START, ...definition() }, { n: 1.5 })
    await expectAsRead(run)
    expect(JSON.stringify(run)).not.toContain('sesame-open-1234')
    // A step that fails for good, and with it the run, is written by another way.
    return remembered || run.error?.code === 'HTTP_ERROR'
  }
  // A process that is late reads what it remembers again; then another run is looked at.
  await expect.poll(once).toBe(true)
})

test('random graphs are answered as a read would answer them, and nothing of them stays in memory', async () => {
  const total = rounds(60, 5_000)
  let [at, ended, fromMemory] = [0, 0, 0]
  const worker = async () => {
    while (at < total) {
      const graph = randomGraph(new Dice(7_000_003 + at++))
      const found = await told(definitionOf(graph, effects.url), { a: 1, b: 1, c: 1 }).catch(
        (err: { code?: string }) => {
          // It has a loop that nothing leaves.
          expect(err.code).toBe('VALIDATION_FAILED')
          return null
        },
      )
      if (found?.run.status !== 'completed' && found?.run.status !== 'failed') continue
      await expectAsRead(found.run)
      expect(recall(found.run.runId)).toBeNull()
      ended++
      if (found.remembered) fromMemory++
    }
  }
  await worker()
  expect(ended).toBeGreaterThan(total * 0.2)
  expect(fromMemory).toBeGreaterThan(0)
})
