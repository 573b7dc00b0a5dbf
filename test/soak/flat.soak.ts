import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Sql } from 'postgres'
import { expect } from 'vitest'
import { freshDatabase } from '../support/db'
import { startEffects } from '../support/effects'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { scenario } from './rounds'

// Long runs cost as much at their end as at their start. FLAT_SCALE=0.1 makes them shorter, for trying out a change.

const SCALE = Number(process.env.FLAT_SCALE ?? 1)
const scaled = (n: number) => Math.max(20, Math.round(n * SCALE))

/** How much longer the last tenth may take than the first. */
const MAX_SLOWER = 1.3
const MAX_HEAP_BYTES = 32 * 1024 * 1024
const MAX_CANCEL_MS = 1_000

interface Kind {
  name: string
  definition: object
  data?: object
}

const LINE = scaled(2_000)
const VISITS = scaled(100_000)
const ITEMS = scaled(100_000)

const set = (id: string, values: object) => ({ id, type: 'set-data', values })

function kinds(effectUrl: string): Kind[] {
  const effect = (id: string) => ({ id, type: 'test-effect', url: effectUrl, saveAs: 'last' })
  const ids = Array.from({ length: LINE }, (_, n) => `s${n}`)
  const line = {
    name: 'Line',
    initialStep: 's0',
    steps: ids.map(effect),
    edges: ids.slice(1).map((to, n) => ({ from: `s${n}`, to })),
  }
  const loop = {
    name: 'Loop',
    initialStep: 'zero',
    steps: [
      set('zero', { n: 0 }),
      { id: 'more', type: 'condition', when: `\${n} < ${Math.round(VISITS / 2)}`, maxVisits: VISITS },
      { id: 'add', type: 'set-data', compute: { n: '${n} + 1' } },
    ],
    edges: [
      { from: 'zero', to: 'more' },
      { from: 'more', to: 'add', on: 'true' },
      { from: 'add', to: 'more' },
    ],
  }
  const each = {
    name: 'Each',
    payload: { count: { type: 'array' } },
    initialStep: 'all',
    steps: [
      { id: 'all', type: 'for-each', items: '${count}', concurrency: 16, result: '${twice}' },
      { id: 'one', type: 'set-data', compute: { twice: '${item} * 2' } },
    ],
    edges: [{ from: 'all', to: 'one', on: 'each' }],
  }
  return [
    { name: `${LINE} effects in a line`, definition: line },
    { name: `a loop of ${VISITS} visits`, definition: loop },
    { name: `${ITEMS} items`, definition: each, data: { count: Array.from({ length: ITEMS }, (_, n) => n) } },
  ]
}

scenario(
  'long runs: the last tenth takes as long as the first, in the same memory, and a cancel a second',
  1,
  async (soak) => {
    const database = await freshDatabase({ max: 20 })
    soak.after(() => database.close())
    const effects = await startEffects(() => ({ body: { n: 1 } }))
    soak.after(() => effects.stop())
    const runtime = await startTestRuntime(database.url, { SYNC_START_TIMEOUT_MS: '1000' })
    soak.after(() => runtime.stop())
    // Work that is loaded and compiled once belongs to no run.
    await cancelMidway(runtime, database.sql, kinds(effects.url)[0]?.definition ?? {})
    for (const { name, definition, data } of kinds(effects.url)) {
      const runId = await runtime.start(definition, data)
      const heap = await heapWhile(() => isOpen(database.sql, runId))
      const [ended] = await database.sql`select outcome, error from runs where id = ${runId}`
      expect(ended, name).toMatchObject({ outcome: 'succeeded' })
      const [first = 0, last = 0] = await tenths(database.sql, runId)
      soak.say(`${name}: first tenth ${first} ms, last tenth ${last} ms; heap ${mb(heap.first)} to ${mb(heap.last)} MB`)
      expect(last / first, name).toBeLessThan(MAX_SLOWER)
      expect(heap.last - heap.first, name).toBeLessThan(MAX_HEAP_BYTES)
      const ms = await cancelMidway(runtime, database.sql, definition, data)
      soak.say(`${name}: a cancel took ${Math.round(ms)} ms`)
      expect(ms, name).toBeLessThan(MAX_CANCEL_MS)
    }
  },
)

async function isOpen(sql: Sql, runId: string): Promise<boolean> {
  const [run] = await sql`select end_time from runs where id = ${runId}`
  return run?.end_time === null
}

/** How long the first and the last tenth of the visits took, in milliseconds. */
async function tenths(sql: Sql, runId: string): Promise<number[]> {
  const rows = await sql`
    select extract(epoch from max(end_time) - min(end_time))::float8 * 1000 as ms
    from (select end_time, ntile(10) over (order by end_time, seq) as tenth from step_records where run_id = ${runId}) s
    where tenth in (1, 10) group by tenth order by tenth`
  return rows.map(({ ms }) => Math.round(ms))
}

/** The heap in use after a full collection, in the first and in the last fifth of a time: the minimum of each. */
async function heapWhile(goesOn: () => Promise<boolean>): Promise<{ first: number; last: number }> {
  const used: number[] = []
  for (let round = 0; await goesOn(); round++) {
    if (round % SAMPLE_EVERY === 0) {
      collect()
      used.push(process.memoryUsage().heapUsed)
    }
    await sleep(100)
  }
  const fifth = Math.max(1, Math.floor(used.length / 5))
  return { first: Math.min(...used.slice(0, fifth)), last: Math.min(...used.slice(-fifth)) }
}

/** A collection takes some 50 ms, so they are few. */
const SAMPLE_EVERY = 20

function collect(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

async function cancelMidway(runtime: TestRuntime, sql: Sql, definition: object, data?: object): Promise<number> {
  const { cancelRun } = await import('@/server/runs/cancel')
  const runId = await runtime.start(definition, data)
  const records = async () => Number((await sql`select count(*) as n from step_records where run_id = ${runId}`)[0]?.n)
  while ((await records()) < 100 * Math.min(1, SCALE)) await sleep(20)
  const from = performance.now()
  await cancelRun(runtime.ctx, { runId })
  while (await isOpen(sql, runId)) await sleep(5)
  return performance.now() - from
}

const mb = (bytes: number) => Math.round(bytes / 2 ** 20)
