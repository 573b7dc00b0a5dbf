import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cancelRun } from '@/server/runs/cancel'
import { moveRuns } from '@/server/runs/moves/move'
import { sweepReminders } from '@/server/runs/remind'
import { resumeRun } from '@/server/runs/resume'
import { terminateRun } from '@/server/runs/terminate'
import { createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { expectInvariants } from '../support/invariants/check'
import { checkEffects } from '../support/invariants/effects'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { sampled } from '../support/sample.mjs'
import { CrashRuns } from './crash-run'

// A process may die at every write to the database: before it, or after it is done and before anybody learns of it. A
// first process names the writes of a whole run; others die at one each. SOAK=1 tries all of them, else each commit tries
// one. To repeat one: CRASH_AT="insert runs, walks #1 after", as the failure names it.

const HOWS = ['answer', 'cancel', 'terminate', 'remind', 'move'] as const
type How = (typeof HOWS)[number]
/** How many points are tried unless all are wanted. */
const FEW: Record<How, number> = { answer: 1, cancel: 1, terminate: 1, remind: 2, move: 2 }

let database: FreshDatabase
let effects: EffectServer
let runtime: TestRuntime
let workflows: Record<'others' | 'move', string>
const crashes = new CrashRuns()
beforeAll(async () => {
  database = await freshDatabase({ max: 10 })
  effects = await startEffects()
  runtime = await startTestRuntime(database.url, { MILLRACE_HOST_ID: 'one' })
  workflows = await publishAll()
  await runtime.stop()
})
afterAll(async () => {
  crashes.stop()
  await effects?.stop()
  await database?.close()
})

/** A step of each kind that hands over a run: to branches, to items, to another workflow and to a person. */
async function publishAll(): Promise<Record<'others' | 'move', string>> {
  const retry = { initialDelayMs: 100, backoff: 'fixed', maxAttempts: 5 }
  const effect = (id: string) => ({ id, type: 'test-effect', url: effects.url, body: { id }, retry })
  const publish = async (definition: object) => {
    const { id } = await createWorkflow(runtime.ctx, { name: 'Crashes', ...definition })
    await publishWorkflow(runtime.ctx, { id })
    return id
  }
  const child = await publish({ steps: [effect('only')] })
  const drawn = {
    steps: [
      effect('first'),
      { id: 'both', type: 'parallel', branches: [{ id: 'left' }, { id: 'right' }] },
      effect('beside'),
      { id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } }, reminders: { after: 'P1D' } },
      { id: 'each', type: 'for-each', items: [1, 2], concurrency: 2 },
      effect('item'),
      { id: 'sub', type: 'run-workflow', workflowId: child },
      { id: 'end', type: 'end-flow', output: { n: '${n}' } },
      effect('clean'),
    ],
    edges: [
      { from: 'first', to: 'both' },
      { from: 'both', to: 'beside', on: 'left' },
      { from: 'both', to: 'ask', on: 'right' },
      { from: 'both', to: 'each', on: 'done' },
      { from: 'each', to: 'item', on: 'each' },
      { from: 'each', to: 'sub', on: 'done' },
      { from: 'sub', to: 'end' },
    ],
    onCancel: 'clean',
  }
  const id = await publish(drawn)
  return { others: id, move: await publishMoved(effect, publish) }
}

/** Its second version asks the task again. */
async function publishMoved(effect: (id: string) => object, publish: (definition: object) => Promise<string>) {
  const drawn = (title: string) => ({
    steps: [
      effect('first'),
      { id: 'ask', type: 'collect-inputs', title, output: { n: { type: 'number' } } },
      effect('last'),
      { id: 'end', type: 'end-flow', output: { n: '${n}' } },
    ],
    edges: [
      { from: 'first', to: 'ask' },
      { from: 'ask', to: 'last' },
      { from: 'last', to: 'end' },
    ],
  })
  const id = await publish(drawn('One'))
  await updateWorkflow(runtime.ctx, { id, body: drawn('Two') as never })
  await publishWorkflow(runtime.ctx, { id })
  return id
}

test.for(process.env.CRASH_AT ? HOWS : sampled(HOWS, 3))(
  'a process that dies at a write to the database loses and repeats nothing: %s',
  { timeout: 3_600_000 },
  async (how) => {
    const { points } = await live(how, '')
    expect(points.length).toBeGreaterThan(10)
    const all = (how === 'remind' ? reminding(points) : how === 'move' ? moving(points) : points).flatMap((point) => [
      `${point} before`,
      `${point} after`,
    ])
    const chosen = process.env.CRASH_AT ? [process.env.CRASH_AT] : process.env.SOAK ? all : some(all, FEW[how])
    let reached = 0
    for (const [index, at] of chosen.entries()) {
      if (process.env.SOAK && index % 20 === 0) process.stderr.write(`${how}: ${index} of ${chosen.length} places\n`)
      const { runId, acknowledged, died } = await live(how, at)
      if (died) reached++
      // With every process dead.
      await expectInvariants(database.sql).catch((err: Error) => {
        throw new Error(`CRASH_AT="${at}": ${err.message}`)
      })
      if (runId === null) continue
      runtime = await startTestRuntime(database.url)
      await expectEnds(how, runId, acknowledged, `CRASH_AT="${at}"`)
      await runtime.stop()
      expect(await checkEffects(database.sql, effects.seen), at).toEqual([])
    }
    // Concurrent work may need another number of writes.
    expect(reached).toBeGreaterThanOrEqual(Math.floor(chosen.length / 2))
  },
)

/** The writes of a reminder, up to its commit. */
function reminding(points: readonly string[]): readonly string[] {
  const from = points.indexOf('update pauses #1')
  expect(from).toBeGreaterThan(0)
  return points.slice(from, points.findIndex((point, at) => at > from && point.startsWith('commit')) + 1)
}

/** The writes of a move, up to its commit. */
function moving(points: readonly string[]): readonly string[] {
  const moved = points.findIndex((point) => point.startsWith('insert run_moves'))
  expect(moved).toBeGreaterThan(0)
  const from = points.findLastIndex((point, at) => at < moved && point.startsWith('commit')) + 1
  return points.slice(from, points.findIndex((point, at) => at > moved && point.startsWith('commit')) + 1)
}

function some(all: readonly string[], count: number): string[] {
  return Array.from({ length: count }, () => all[Math.floor(Math.random() * all.length)] ?? '')
}

/** Continues the run, as its caller would, and compares it with the acknowledgements. */
async function expectEnds(how: How, runId: string, acknowledged: boolean, where: string): Promise<void> {
  const { ctx } = runtime
  const paused = await runtime.wait(runId, (run) => run.status === 'paused' || run.endTime !== undefined)
  const answers = how === 'answer' || how === 'remind' || how === 'move'
  if (how === 'move' && paused.status === 'paused') await moveOn(runId)
  if (paused.status === 'paused') {
    expect(acknowledged, `${where}: what was acknowledged is lost`).toBe(false)
    if (how === 'remind')
      await sweepReminders({ db: runtime.db, log: ctx.log, now: () => new Date(Date.now() + 25 * 3_600_000) })
    if (answers) await resumeRun(ctx, { runId, body: { type: 'collect_inputs', data: { n: 2 } } })
    else await (how === 'cancel' ? cancelRun : terminateRun)(ctx, { runId })
  }
  const run = await runtime.wait(runId)
  const n = paused.status === 'paused' ? 2 : 1
  const outcome = {
    answer: 'succeeded',
    remind: 'succeeded',
    move: 'succeeded',
    cancel: 'cancelled',
    terminate: 'terminated',
  }[how]
  expect(run, where).toMatchObject({ outcome, ...(answers ? { result: { n }, data: { n } } : {}) })
  if (how === 'move') expect(await movesOf(runId), where).toEqual([{ moves: 1, entries: 1, version: 2 }])
  const reminders = run.stepExecutionHistory.flatMap(({ reminders = [] }) => reminders)
  expect(reminders, where).toHaveLength(how === 'remind' ? 1 : 0)
  const records = run.stepExecutionHistory.map(({ branch, stepId }) => `${branch ?? ''}:${stepId}`)
  expect(new Set(records).size, where).toBe(records.length)
  expect(records.includes(':clean'), where).toBe(how === 'cancel')
  if (answers)
    expect(
      run.stepExecutionHistory.filter(({ status }) => status !== 'completed'),
      where,
    ).toEqual([])
}

/** Again, by another process: a repeat does no harm. */
async function moveOn(runId: string): Promise<void> {
  for (;;) {
    const { moved } = await moveRuns(runtime.ctx, {
      workflowId: workflows.move,
      toVersion: 2,
      runIds: [runId],
      asksAgain: true,
    })
    if (moved.length > 0) return
    await sleep(50)
  }
}

const movesOf = (runId: string) => database.sql`
  select workflow_version as version,
    (select count(*)::int from run_moves m where m.run_id = r.id) as moves,
    (select count(*)::int from audit_entries a where a.thing_id = r.id and a.action = 'run.moved') as entries
  from runs r where id = ${runId}`

/**
 * Runs a workflow in a process of its own, which completes it or dies at one of its writes. No other process works
 * meanwhile.
 */
async function live(how: How, at: string) {
  let known: string[] = []
  const workflowId = how === 'move' ? workflows.move : workflows.others
  const life = { tenantId: runtime.ctx.tenantId, workflowId, how, at }
  const { said, after, died, points } = await crashes.live(life, async () => {
    known = await runIds()
  })
  const runId = (await runIds()).find((id) => !known.includes(id)) ?? null
  const [started] = after('started')
  if (started !== undefined) expect(runId, `CRASH_AT="${at}": the run was acknowledged`).toBe(started)
  return { runId, acknowledged: said.includes('acknowledged'), died, points }
}

async function runIds(): Promise<string[]> {
  const rows = await database.sql<
    { id: string }[]
  >`select id from runs where workflow_id = any(${Object.values(workflows)})`
  return rows.map(({ id }) => id)
}
