import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { fireDue } from '@/server/schedules/fire'
import { getSchedule, listSchedules } from '@/server/schedules/list'
import { createSchedule, deleteSchedule, updateSchedule } from '@/server/schedules/save'
import { archiveWorkflow, createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

// On a clock of its own, and without an engine: started runs do not progress.

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const NINE = Date.parse('2026-03-02T09:00:00Z')

let database: FreshDatabase
let clock = NINE
let ctx: ServiceContext
let workflowId: string
const now = () => new Date(clock)

beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
})
afterAll(() => database?.close())
beforeEach(async () => {
  await database.sql`update schedules set next_at = null`
  clock = NINE - MINUTE
  ctx = { ...(await newTenant(database)), now }
  const steps = [{ id: 'ask', type: 'collect-inputs', output: { ok: { type: 'string' } } }]
  const payload = { region: { type: 'string' } }
  workflowId = (await createWorkflow(ctx, { name: 'Timed', payload, steps })).id
})

const fire = () => fireDue({ db: database.db, log: ctx.log, now })
const schedule = (more: object = {}) =>
  createSchedule(ctx, { workflowId, body: { name: 'Hourly', cron: '0 * * * *', data: { region: 'north' }, ...more } })
const runs = () => database.sql<{ id: string; input: object; started_by: string; started_via: string }[]>`
  select id, input, started_by, started_via from runs where tenant_id = ${ctx.tenantId} order by id`
const ticks = async (scheduleId: string) =>
  (await getSchedule(ctx, { workflowId, scheduleId })).ticks.map(({ at, status }) => [at.slice(11, 16), status])

/** Runs the sweep every minute. */
async function pass(ms: number): Promise<void> {
  for (const end = clock + ms; clock < end; ) {
    clock += MINUTE
    await fire()
  }
}

test('each of its times starts one run of the workflow with its START fields', async () => {
  const { id, next } = await schedule({ cron: '*/30 9-10 * * *' })
  expect(next.map((at) => at.slice(0, 16))).toEqual([
    '2026-03-02T09:00',
    '2026-03-02T09:30',
    '2026-03-02T10:00',
    '2026-03-02T10:30',
    '2026-03-03T09:00',
  ])
  await pass(2 * HOUR)
  const started = await runs()
  expect(started).toHaveLength(4)
  for (const run of started)
    expect(run).toMatchObject({ input: { region: 'north' }, started_by: id, started_via: 'system' })
  expect(await ticks(id)).toEqual([
    ['10:30', 'started'],
    ['10:00', 'started'],
    ['09:30', 'started'],
    ['09:00', 'started'],
  ])
  const [last] = await listSchedules(ctx, { workflowId })
  expect(last).toMatchObject({ last: { runId: started[3]?.id, status: 'started', error: null } })
})

test('however many processes see that it is due, and however often, one run starts', async () => {
  await Promise.all(Array.from({ length: 5 }, (_, i) => schedule({ name: `Number ${i}` })))
  clock = NINE + 5_000
  await Promise.all(Array.from({ length: 8 }, fire))
  await fire()
  expect(await runs()).toHaveLength(5)
})

test('a time that comes a second time, because clocks differ, starts no second run, and the schedule continues', async () => {
  const { id } = await schedule()
  await pass(MINUTE)
  // The process that saves the change has a clock that is behind.
  clock = NINE - 30_000
  await updateSchedule(ctx, { workflowId, scheduleId: id, body: { cron: '0 8-18 * * *' } })
  await pass(2 * MINUTE)
  expect(await runs()).toHaveLength(1)
  await pass(HOUR)
  expect(await runs()).toHaveLength(2)
  expect(await ticks(id)).toEqual([
    ['10:00', 'started'],
    ['09:00', 'started'],
  ])
})

describe('times that passed while no process was running', () => {
  test('are skipped, and the skipping is written down', async () => {
    const { id } = await schedule()
    clock = NINE + 3 * HOUR + 30 * MINUTE
    await fire()
    expect(await runs()).toHaveLength(0)
    expect(await ticks(id)).toEqual([['12:00', 'skipped']])
    await pass(HOUR)
    expect(await ticks(id)).toEqual([
      ['13:00', 'started'],
      ['12:00', 'skipped'],
    ])
  })

  test('start one run for all of them if the schedule says so', async () => {
    const { id } = await schedule({ catchUp: 'once' })
    clock = NINE + 3 * HOUR + 30 * MINUTE
    await fire()
    await fire()
    expect(await ticks(id)).toEqual([['12:00', 'started']])
    expect(await runs()).toHaveLength(1)
  })

  test.each(['skip', 'once'])('are each made up for after a short while, as a restart takes (%s)', async (catchUp) => {
    const { id } = await schedule({ cron: '* * * * *', catchUp })
    clock = NINE + 4 * MINUTE
    await fire()
    expect(await ticks(id)).toEqual(['09:04', '09:03', '09:02', '09:01', '09:00'].map((at) => [at, 'started']))
    expect(await runs()).toHaveLength(5)
  })
})

test('a paused schedule starts nothing, and missed times are skipped', async () => {
  const { id } = await schedule({ catchUp: 'once' })
  const one = { workflowId, scheduleId: id }
  expect(await updateSchedule(ctx, { ...one, body: { enabled: false } })).toMatchObject({ enabled: false, next: [] })
  await pass(2 * HOUR)
  const resumed = await updateSchedule(ctx, { ...one, body: { enabled: true } })
  expect(resumed.next[0]).toBe('2026-03-02T11:00:00.000Z')
  await fire()
  expect(await runs()).toHaveLength(0)
  await pass(HOUR)
  expect(await runs()).toHaveLength(1)
})

test('another time table counts from now, and other changes leave the next time alone', async () => {
  const { id } = await schedule()
  const one = { workflowId, scheduleId: id }
  const renamed = await updateSchedule(ctx, { ...one, body: { name: 'Renamed', data: { region: 'south' } } })
  expect(renamed).toMatchObject({ name: 'Renamed', cron: '0 * * * *', next: expect.arrayContaining([now9()]) })
  const moved = await updateSchedule(ctx, { ...one, body: { cron: '30 10 * * *', timeZone: 'Europe/Berlin' } })
  expect(moved.next[0]).toBe('2026-03-02T09:30:00.000Z')
  await pass(HOUR)
  expect(await runs()).toMatchObject([{ input: { region: 'south' } }])
  expect(await deleteSchedule(ctx, one)).toEqual({ id, deleted: true })
  clock += 26 * HOUR
  await fire()
  expect(await runs()).toHaveLength(1)
})
const now9 = () => new Date(NINE).toISOString()

test('a start that is refused is recorded with its reason, and delays neither the next one nor another schedule', async () => {
  const { id } = await schedule()
  await archiveWorkflow(ctx, { id: workflowId })
  const steps = [{ id: 'ask', type: 'collect-inputs', output: { ok: { type: 'string' } } }]
  const other = await createWorkflow(ctx, { name: 'Other', steps })
  await createSchedule(ctx, { workflowId: other.id, body: { name: 'Also', cron: '0 * * * *' } })
  await pass(2 * HOUR)
  expect(await runs()).toHaveLength(2)
  expect((await getSchedule(ctx, { workflowId, scheduleId: id })).ticks).toMatchObject([
    { status: 'failed', runId: null, error: 'The workflow is archived' },
    { status: 'failed' },
  ])
})

test.each([
  [{ cron: '61 * * * *' }, 'cron'],
  [{ timeZone: 'Mars/Olympus' }, 'timeZone'],
  [{ catchUp: 'all' }, 'catchUp'],
  [{ name: ' ' }, 'name'],
  [{ data: { region: 7 } }, 'data.region'],
  [{ data: {} }, 'data.region'],
])('%j is refused with the field at fault', async (more, path) => {
  await expect(schedule(more)).rejects.toMatchObject({ code: 'INVALID_INPUT', details: [{ path }] })
})

test('nobody finds a schedule of another workspace, or under another workflow', async () => {
  const { id } = await schedule()
  const stranger = { ...(await newTenant(database)), now }
  await expect(getSchedule(stranger, { workflowId, scheduleId: id })).rejects.toThrow('Workflow not found')
  const other = await createWorkflow(ctx, { name: 'Other', steps: [{ id: 'end', type: 'end-flow' }] })
  await expect(getSchedule(ctx, { workflowId: other.id, scheduleId: id })).rejects.toThrow('Not found')
  await archiveWorkflow(ctx, { id: workflowId })
  await expect(schedule()).rejects.toMatchObject({ code: 'WORKFLOW_ARCHIVED' })
})
