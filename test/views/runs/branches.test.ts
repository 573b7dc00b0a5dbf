import { afterAll, beforeAll, expect, it } from 'vitest'
import { resumeRun } from '@/server/runs/resume'
import { BRANCH_PAGE, readBranches } from '@/server/views/runs/branches'
import { readTimeline, type Timeline } from '@/server/views/runs/timeline'
import { type FreshDatabase, freshDatabase } from '../../support/db'
import { startTestRuntime, type TestRuntime } from '../../support/runtime'
import { seedIterations } from '../../support/seed-runs'

const ITEMS = process.env.SOAK ? 100_000 : 6_000
let database: FreshDatabase
let runtime: TestRuntime

beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

it('shows the branches of a step by name, each with its state, in their order', async () => {
  const ask = (id: string) => ({ id, type: 'request-user-action', actions: [{ id: 'ok', label: 'OK' }] })
  const runId = await runtime.start({
    steps: [
      {
        id: 'checks',
        type: 'parallel',
        branches: [{ id: 'credit', label: 'Credit' }, { id: 'fraud' }, { id: 'quick' }],
      },
      ask('credit'),
      ask('fraud'),
      { id: 'quick', type: 'set-data', values: { quick: true } },
      { id: 'end', type: 'end-flow' },
    ],
    edges: [
      { from: 'checks', to: 'credit', on: 'credit' },
      { from: 'checks', to: 'fraud', on: 'fraud' },
      { from: 'checks', to: 'quick', on: 'quick' },
      { from: 'checks', to: 'end', on: 'done' },
    ],
  })
  await runtime.wait(runId, ({ pauseSignals }) => pauseSignals.length === 2)
  const states = async () => {
    const rows = await readBranches(runtime.ctx, { runId, fork: 'main/checks#1', page: 0 })
    return rows.map(({ key, state }) => `${key} ${state}`)
  }
  await expect.poll(states).toEqual(['credit waiting', 'fraud waiting', 'quick completed'])
  for (const stepId of ['credit', 'fraud'])
    await resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', stepId, actionId: 'ok' } })
  await runtime.wait(runId)
  expect(await states()).toEqual(['credit completed', 'fraud completed', 'quick completed'])
  const timeline = await readTimeline(runtime.ctx, { runId })
  expect(timeline.names).toEqual({
    checks: [
      ['credit', 'Credit'],
      ['fraud', 'fraud'],
      ['quick', 'quick'],
    ],
  })
  expect(Object.values(timeline.forks)).toEqual([{ total: 3, succeeded: 3, failed: 0 }])
  expect(timeline.labels.checks).toMatchObject({ credit: 'Credit', done: 'Done' })
  expect(timeline.cut).toBe(false)
})

it('pages very many iterations by number and the failed ones apart, without looking at the others', async () => {
  const { runId, fork } = await seedIterations(database.sql, runtime.ctx.tenantId, ITEMS)
  const last = ITEMS / BRANCH_PAGE - 1
  const page = await readBranches(runtime.ctx, { runId, fork, page: last })
  expect(page.map(({ position }) => position)).toEqual(
    Array.from({ length: BRANCH_PAGE }, (_, n) => last * BRANCH_PAGE + n),
  )
  expect(page[0]).toMatchObject({ key: String(ITEMS - BRANCH_PAGE), state: 'completed', error: null })
  expect(Date.parse(page[0]?.endTime ?? '') - Date.parse(page[0]?.startTime ?? '')).toBe(8)
  const failed = await readBranches(runtime.ctx, { runId, fork, page: 0, failed: true })
  expect(failed.slice(0, 2)).toMatchObject(
    [99, 199].map((position) => ({ position, state: 'failed', error: 'The shop answered 503.' })),
  )
  expect(failed).toHaveLength(Math.min(BRANCH_PAGE, ITEMS / 100))
})

it('keeps the part before very many iterations in the timeline, and reads one of them on its own', async () => {
  const { runId, fork } = await seedIterations(database.sql, runtime.ctx.tenantId, ITEMS)
  const timeline = await readTimeline(runtime.ctx, { runId })
  const shown = timeline.rows.map(([, step]) => timeline.steps[step])
  expect(shown.filter((step) => step?.[3] === 'main').map((step) => step?.[0])).toEqual(['list', 'each', 'end'])
  expect(timeline.rows.length).toBeLessThan(2_010)
  expect(timeline.cut).toBe(true)
  const one = await readTimeline(runtime.ctx, { runId, branch: `${fork}/17` })
  expect(one.steps.map(([id]) => id)).toEqual(['look', 'save'])
  expect(one.cut).toBe(false)
})

it('is cut only where a visit is missing', async () => {
  for (const [iterations, cut] of [
    [1_000, false],
    [1_001, true],
  ] as const) {
    const { runId } = await seedIterations(database.sql, runtime.ctx.tenantId, iterations)
    const timeline = await readTimeline(runtime.ctx, { runId })
    expect(timeline.cut, String(iterations)).toBe(cut)
    if (!cut) expect(timeline.rows).toHaveLength(2_003)
  }
})

it('shows an early iteration that is still open, regardless of later ones, and shows when it has ended', async () => {
  const { sql, ctx } = { sql: database.sql, ctx: runtime.ctx }
  const { runId, fork } = await seedIterations(sql, ctx.tenantId, 1_050)
  const first = sql`run_id = ${runId} and branch = ${`${fork}/0`}`
  await sql`update step_records set end_time = null, status = 'running' where ${first} and step_id = 'save'`
  await sql`update walks set status = 'resting' where ${first}`
  const saves = ({ rows, steps }: Timeline) =>
    rows.flatMap(([, step, , , , end]) => (steps[step]?.[3] === `${fork}/0` ? [[steps[step]?.[0], end]] : []))
  const before = await readTimeline(ctx, { runId })
  expect(before.cut).toBe(true)
  expect(saves(before)).toEqual([['save', null]])
  const unchanged = await readTimeline(ctx, { runId, after: before.change })
  expect(saves(unchanged)).toEqual([['save', null]])
  expect(unchanged).toMatchObject({ cut: false, rows: { length: 1 } })
  await sql`update step_records set end_time = start_time, status = 'completed', change = nextval('changes')
    where ${first} and step_id = 'save'`
  await sql`update walks set status = 'ended', updated_at = now() where ${first}`
  const changed = await readTimeline(ctx, { runId, after: before.change })
  expect(saves(changed)).toEqual([['save', 4]])
  expect(changed).toMatchObject({ cut: false, rows: { length: 1 } })
})
