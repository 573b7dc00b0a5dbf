import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { addTo, endOf, percentile, type Spread } from '@/server/views/insights/buckets'
import { readInsights } from '@/server/views/insights/read'
import { readStepFigures } from '@/server/views/insights/steps'
import { createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

let database: FreshDatabase
const sent = new Set<string>()
beforeAll(async () => {
  database = await freshDatabase()
  Object.assign(database.sql.options, { debug: (_connection: number, text: string) => sent.add(text) })
})
afterAll(() => database.close())

/** Noon, so that "an hour ago" is today. */
const NOW = new Date('2026-11-20T12:00:00Z')
const at = (ctx: ServiceContext, now = NOW): ServiceContext => ({ ...ctx, now: () => now })
const DAY = 86_400_000

interface Past {
  daysAgo: number
  outcome?: 'succeeded' | 'failed' | 'cancelled' | 'terminated' | 'timed_out'
  ms?: number
  via?: string
  /** How long its task waited. */
  waited?: number
  /** The usage of an agent's answers in it. */
  spent?: { agent?: string; tokens: number; cost?: number; copied?: true; failed?: true }
}

const steps = [
  { id: 'ask', type: 'request-user-action', name: 'The decision', actions: [{ id: 'ok', label: 'OK' }] },
  { id: 'end', type: 'end-flow' },
]
const newWorkflow = async (ctx: ServiceContext, name: string) =>
  (await createWorkflow(ctx, { name, steps, edges: [{ from: 'ask', to: 'end' }] })).id

let made = 0
async function seed(ctx: ServiceContext, workflowId: string, past: readonly Past[]): Promise<void> {
  const rows = past.map(({ daysAgo, outcome = 'succeeded', ms = 1_000, via = 'apiKey', waited = null, spent }) => {
    const end = new Date(NOW.getTime() - daysAgo * DAY - 60_000)
    return {
      id: `run_PAST${made++}`,
      outcome,
      via,
      waited,
      spent: spent && {
        agent: spent.agent ?? 'agt_1',
        usage: {
          usage: { inputTokens: spent.tokens, outputTokens: 1, totalTokens: spent.tokens + 1 },
          threadId: 'thr_deleted',
          ...(spent.cost === undefined ? {} : { cost: spent.cost }),
        },
        status: spent.failed ? 'failed' : 'completed',
        began: new Date(end.getTime() - (spent.copied ? 5_000_000 : ms)).toISOString(),
      },
      end: end.toISOString(),
      start: new Date(end.getTime() - ms).toISOString(),
    }
  })
  const json = database.sql.json(rows as never)
  await database.sql`
    insert into runs (tenant_id, id, workflow_id, workflow_version, workflow_name, status, outcome, input, data,
      started_by, started_via, start_time, end_time)
    select ${ctx.tenantId}, r.id, ${workflowId}, 1, 'W', case when r.outcome = 'succeeded' then 'completed' else 'failed' end,
      r.outcome, '{}', '{}', 'key', r.via, r.start, r.end
    from jsonb_to_recordset(${json}) as r(id text, outcome text, via text, start timestamptz, "end" timestamptz)`
  await database.sql`
    insert into pauses (tenant_id, id, run_id, branch, step_id, visit, kind, signal, created_at, answered_at, answer,
      answered_by, consumed_at)
    select ${ctx.tenantId}, 'main:ask#1', r.id, 'main', 'ask', 1, 'request_user_action', '{}', r.end - r.waited * interval '1 ms', r.end, '{"actionId":"ok"}', 'usr_1', r.end
    from jsonb_to_recordset(${json}) as r(id text, waited float8, "end" timestamptz) where r.waited is not null`
  await database.sql`
    insert into step_records (tenant_id, run_id, branch, step_id, visit, step_type, step_name, status, start_time, end_time, usage)
    select ${ctx.tenantId}, r.id, 'main', 'ask', 1, 'request-user-action', 'Ask', case when r.outcome = 'failed' then 'failed' else 'completed' end,
      r.start, r.end, null
    from jsonb_to_recordset(${json}) as r(id text, outcome text, start timestamptz, "end" timestamptz)`
  await database.sql`
    insert into step_records (tenant_id, run_id, branch, step_id, visit, step_type, step_name, status, start_time, end_time,
      input_data, usage)
    select ${ctx.tenantId}, r.id, 'main', 'agent', 1, 'call-agent', 'Agent', r.spent->>'status', (r.spent->>'began')::timestamptz, r.end,
      jsonb_build_object('agentId', r.spent->>'agent'), r.spent->'usage'
    from jsonb_to_recordset(${json}) as r(id text, spent jsonb, "end" timestamptz) where r.spent is not null`
}

/** A run whose task still waits. */
async function leaveOpen(ctx: ServiceContext, workflowId: string, daysAgo: number): Promise<void> {
  const id = `run_OPEN${made++}`
  const since = new Date(NOW.getTime() - daysAgo * DAY).toISOString()
  await database.sql`
    insert into runs (tenant_id, id, workflow_id, workflow_version, workflow_name, status, input, data, started_by,
      started_via, start_time)
    values (${ctx.tenantId}, ${id}, ${workflowId}, 1, 'W', 'paused', '{}', '{}', 'key', 'apiKey', ${since})`
  await database.sql`
    insert into pauses (tenant_id, id, run_id, branch, step_id, visit, kind, signal, created_at)
    values (${ctx.tenantId}, 'main:ask#1', ${id}, 'main', 'ask', 1, 'request_user_action', '{}', ${since})`
  await database.sql`
    insert into step_records (tenant_id, run_id, branch, step_id, visit, step_type, step_name, status, start_time)
    values (${ctx.tenantId}, ${id}, 'main', 'ask', 1, 'request-user-action', 'Ask', 'running', ${since})`
}

/** Never less, and not much more. */
const near = (ms: number) => (found: number | null) => found !== null && found >= ms && found / ms < 1.106

describe('insights', () => {
  test('are the figures of the runs that ended, whether their day is counted or live', async () => {
    const ctx = at(await newTenant(database))
    const [first, second] = [await newWorkflow(ctx, 'First'), await newWorkflow(ctx, 'Second')]
    const slow = Array.from({ length: 18 }, () => ({ daysAgo: 3, ms: 2_000 }))
    await seed(ctx, first, [
      ...slow,
      { daysAgo: 3, ms: 50_000, waited: 7_200_000 },
      { daysAgo: 3, ms: 50_000 },
      { daysAgo: 0, outcome: 'failed' },
      { daysAgo: 3, outcome: 'timed_out' },
      { daysAgo: 3, outcome: 'cancelled' },
      { daysAgo: 3, via: 'test', outcome: 'failed', waited: 1 },
      { daysAgo: 8, outcome: 'terminated' },
    ])
    await seed(ctx, second, [{ daysAgo: 1, ms: 300 }])
    const live = await readInsights(ctx, { days: 7 })
    expect(live).toMatchObject({ total: { succeeded: 21, failed: 2, stopped: 1 }, uncounted: 0 })
    expect(live.workflows.map(({ name, succeeded }) => [name, succeeded])).toEqual([
      ['First', 20],
      ['Second', 1],
    ])
    // A draft's names are not those of the runs.
    await publishWorkflow(ctx, { id: first })
    const renamed = [{ ...steps[0], name: 'A draft' }, steps[1]]
    await updateWorkflow(ctx, { id: first, body: { steps: renamed } })
    const own = await readInsights(ctx, { workflowId: first, days: 7 })
    expect(own.total.p50).toSatisfy(near(2_000))
    expect(own.total.p95).toSatisfy(near(50_000))
    expect(own.days.map(({ succeeded, failed, stopped }) => [succeeded, failed, stopped])).toEqual([
      [0, 0, 0],
      [0, 0, 0],
      [0, 0, 0],
      [20, 1, 1],
      [0, 0, 0],
      [0, 0, 0],
      [0, 1, 0],
    ])
    expect(own.waits).toMatchObject([{ stepId: 'ask', stepName: 'The decision', answers: 1, waiting: 0 }])
    expect(own.waits[0]?.p50).toSatisfy(near(7_200_000))
    expect((await readInsights(ctx, { days: 30 })).total.stopped).toBe(2)
    expect((await readInsights(at(await newTenant(database)), { days: 7 })).total.succeeded).toBe(0)
  })

  test('never exceed the longest duration, which is exact, except on days that an earlier version counted', async () => {
    const ctx = at(await newTenant(database))
    const id = await newWorkflow(ctx, 'W')
    const other = await newWorkflow(ctx, 'Other')
    await seed(ctx, id, [{ daysAgo: 0, ms: 1_450, waited: 61_234 }])
    await seed(ctx, id, [{ daysAgo: 3, ms: 100_001, waited: 99_999 }])
    await seed(ctx, other, [{ daysAgo: 0, ms: 1_450, waited: 61_234 }])
    const figures = async (workflowId = id) => {
      const { total, waits } = await readInsights(ctx, { workflowId, days: 7 })
      return { total, wait: waits[0] }
    }
    const only = { total: { p50: 1_450, p95: 1_450 }, wait: { p50: 61_234, p95: 61_234 } }
    expect(await figures(other)).toMatchObject(only)
    const counted = { total: { p50: 1_450, p95: 100_001 }, wait: { p50: 61_234, p95: 99_999 } }
    for (let look = 0; look < 2; look++) expect(await figures()).toMatchObject(counted)
    await database.sql`update run_days set longest = null where tenant_id = ${ctx.tenantId}`
    await database.sql`update wait_days set longest = null where tenant_id = ${ctx.tenantId}`
    const { total, wait } = await figures()
    expect([total.p50, wait?.p50]).toEqual([1_450, 61_234])
    expect(total.p95).toSatisfy(near(100_001))
    expect(wait?.p95).toSatisfy(near(99_999))
  })

  test('count a day once, and only when it is over', async () => {
    const ctx = at(await newTenant(database))
    const id = await newWorkflow(ctx, 'W')
    await seed(ctx, id, [{ daysAgo: 0 }, { daysAgo: 1 }])
    expect((await readInsights(ctx, { days: 7 })).total.succeeded).toBe(2)
    await seed(ctx, id, [{ daysAgo: 0 }])
    expect((await readInsights(ctx, { days: 7 })).total.succeeded).toBe(3)
    const tomorrow = at(ctx, new Date(NOW.getTime() + DAY))
    for (let look = 0; look < 2; look++) expect((await readInsights(tomorrow, { days: 7 })).total.succeeded).toBe(3)
    // Just after midnight, yesterday may still get a run whose commit is in progress.
    const midnight = at(ctx, new Date('2026-11-21T00:00:30Z'))
    expect((await readInsights(midnight, { days: 7 })).total.succeeded).toBe(3)
  })

  test('of steps come from the newest runs of the newest version', async () => {
    const ctx = at(await newTenant(database))
    const id = await newWorkflow(ctx, 'W')
    expect(await readStepFigures(ctx, { id })).toEqual({ version: null, number: null, runs: 0, layout: {}, steps: [] })
    await seed(ctx, id, [{ daysAgo: 0 }, { daysAgo: 1, outcome: 'failed', ms: 9_000 }, { daysAgo: 0, via: 'test' }])
    expect(await readStepFigures(ctx, { id })).toEqual({
      version: 1,
      number: null,
      layout: {},
      runs: 2,
      steps: [{ stepId: 'ask', visits: 2, failed: 1, p50: 1_000, p95: 9_000, tokens: null, cost: null, wait: null }],
    })
  })

  test('of steps show how long people took there, and the usage of agents', async () => {
    const ctx = at(await newTenant(database))
    const id = await newWorkflow(ctx, 'W')
    await seed(ctx, id, [
      { daysAgo: 0, waited: 60_000, spent: { tokens: 9, cost: 0.5 } },
      { daysAgo: 0, waited: 3_600_000, spent: { tokens: 9, cost: 0.5 } },
    ])
    await leaveOpen(ctx, id, 0)
    const { steps } = await readStepFigures(ctx, { id })
    expect(steps).toMatchObject([
      { stepId: 'agent', tokens: 20, cost: 1, wait: null },
      { stepId: 'ask', tokens: null, wait: { answers: 2, waiting: 1 } },
    ])
    expect(steps[1]?.wait?.p50).toSatisfy(near(60_000))
    expect(steps[1]?.wait?.p95).toSatisfy(near(3_600_000))
  })

  test('of steps count the tasks where nobody has answered yet', async () => {
    const ctx = at(await newTenant(database))
    const id = await newWorkflow(ctx, 'W')
    await leaveOpen(ctx, id, 0)
    expect((await readStepFigures(ctx, { id })).steps).toMatchObject([
      { stepId: 'ask', visits: 0, wait: { answers: 0, waiting: 1 } },
    ])
  })

  test('say day by day how long people took, and since when tasks still wait', async () => {
    const ctx = at(await newTenant(database))
    const id = await newWorkflow(ctx, 'W')
    await seed(ctx, id, [
      { daysAgo: 2, waited: 60_000 },
      { daysAgo: 0, waited: 120_000 },
      { daysAgo: 0, waited: 120_000 },
    ])
    await leaveOpen(ctx, id, 1)
    const own = await readInsights(ctx, { workflowId: id, days: 7 })
    const shown = own.waitDays.slice(-3).map(({ answers, waiting }) => [answers, waiting])
    expect(shown).toEqual([
      [1, 0],
      [0, 1],
      [2, 0],
    ])
    expect(own.waitDays.at(-3)?.p50).toSatisfy(near(60_000))
    expect(own.waitDays.at(-2)?.p50).toBeNull()
    expect(own.waits).toMatchObject([{ stepId: 'ask', answers: 3, waiting: 1 }])
    expect(own.waits[0]?.days).toEqual(own.waitDays)
    const all = await readInsights(ctx, { days: 7 })
    expect(all.waitDays).toEqual(own.waitDays)
    expect(all.waits[0]?.days).toEqual([])
  })

  test('of a workflow show the cost of agents, by agent and day, once for each answer, and which had no prices', async () => {
    const ctx = at(await newTenant(database))
    const [first, second] = [await newWorkflow(ctx, 'First'), await newWorkflow(ctx, 'Second')]
    await seed(ctx, first, [
      { daysAgo: 3, spent: { tokens: 100, cost: 0.25 } },
      { daysAgo: 3, spent: { tokens: 10 } },
      { daysAgo: 0, spent: { tokens: 100, cost: 0.5 } },
      // A run that continued another one has copies of its records.
      { daysAgo: 0, spent: { tokens: 100, cost: 0.5, copied: true } },
      { daysAgo: 0, spent: { tokens: 100, cost: 0.5 }, via: 'test' },
      { daysAgo: 0, spent: { agent: 'agt_2', tokens: 1_000 } },
    ])
    await seed(ctx, second, [{ daysAgo: 1, spent: { tokens: 1, cost: 2 } }])
    const own = await readInsights(ctx, { workflowId: first, days: 7 })
    expect(own.spent).toEqual({ count: 4, inputTokens: 1_210, outputTokens: 4, cost: 0.75, unpriced: 2 })
    expect(own.agents).toMatchObject([
      { id: 'agt_1', count: 3, cost: 0.75, unpriced: 1 },
      { id: 'agt_2', count: 1, cost: null, unpriced: 1, inputTokens: 1_000 },
    ])
    expect(own.agents[0]?.days.map(({ cost }) => cost)).toEqual([null, null, null, 0.25, null, null, 0.5])
    expect(own.spentDays.map(({ count }) => count)).toEqual([0, 0, 0, 2, 0, 0, 2])
    const all = await readInsights(ctx, { days: 7 })
    expect(all.workflows.map(({ name, agentCost }) => [name, agentCost])).toEqual([
      ['First', 0.75],
      ['Second', 2],
    ])
  })

  test('count the cost of a failed turn, but not as an answer', async () => {
    const ctx = at(await newTenant(database))
    const id = await newWorkflow(ctx, 'W')
    await seed(ctx, id, [
      { daysAgo: 3, spent: { tokens: 100, cost: 0.25 } },
      { daysAgo: 3, spent: { tokens: 10, cost: 0.5, failed: true } },
      { daysAgo: 0, spent: { agent: 'agt_2', tokens: 1, cost: 1, failed: true } },
    ])
    const { spent, agents } = await readInsights(ctx, { workflowId: id, days: 7 })
    expect(spent).toEqual({ count: 1, inputTokens: 111, outputTokens: 3, cost: 1.75, unpriced: 0 })
    expect(agents).toMatchObject([
      { id: 'agt_2', count: 0, cost: 1, unpriced: 0 },
      { id: 'agt_1', count: 1 },
    ])
  })

  test('count the agents of a day that an earlier version counted without them', async () => {
    const ctx = at(await newTenant(database))
    const id = await newWorkflow(ctx, 'W')
    await database.sql`insert into counted_days (tenant_id, day) values (${ctx.tenantId}, '2026-11-18')`
    await database.sql`
      insert into run_days (tenant_id, day, workflow_id, outcome, bucket, runs)
      values (${ctx.tenantId}, '2026-11-18', ${id}, 'succeeded', 70, 5)`
    await seed(ctx, id, [{ daysAgo: 2, spent: { tokens: 7 } }])
    const { spent, total } = await readInsights(ctx, { workflowId: id, days: 7 })
    expect(spent.count).toBe(1)
    // Those five may have been deleted since; the sixth has the same duration.
    expect(total.succeeded).toBe(5)
  })

  test('find everything by index in large tables', async () => {
    const ctx = at(await newTenant(database))
    const id = await newWorkflow(ctx, 'Busy')
    for (let part = 0; part < 6; part++) {
      const many = Array.from({ length: 1_000 }, (_, index) => ({
        daysAgo: part * 10 + index / 100,
        waited: 500,
        ...(index % 20 === 0 ? { spent: { tokens: 5 } } : {}),
      }))
      await seed(ctx, id, many)
    }
    await database.sql`analyze runs`
    await database.sql`analyze pauses`
    await database.sql`analyze step_records`
    sent.clear()
    await readInsights(ctx, { days: 30 })
    await readInsights(ctx, { workflowId: id, days: 30 })
    await readStepFigures(ctx, { id })
    const texts = [...sent].filter((text) => /from "?(runs|pauses|step_records)/.test(text))
    expect(texts.length).toBeGreaterThanOrEqual(7)
    for (const text of texts) {
      const [row] = await database.sql.unsafe(`explain (generic_plan, format json) ${text}`)
      const scans = JSON.stringify(row).match(
        /"Node Type": ?"Seq Scan"[^}]*?"Relation Name": ?"(runs|pauses|step_records)"/,
      )
      expect(scans, text).toBeNull()
    }
  })
})

test('no more than a percentile says took longer, and it is at most 10.6 % too long', () => {
  const spread: Spread = new Map()
  addTo(spread, 70, 80, 1_050.4)
  addTo(spread, 70, 10, 1_020)
  addTo(spread, 100, 5, 21_000)
  addTo(spread, 100, 5, null)
  expect(percentile(spread, 0.5)).toBe(1_050)
  expect(percentile(spread, 0.95)).toBe(Math.ceil(endOf(100)))
  expect(percentile(new Map(), 0.5)).toBeNull()
  expect(endOf(71) / endOf(70)).toBeLessThan(1.106)
})
