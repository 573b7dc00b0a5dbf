import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runs } from '@/db/schema/runs'
import type { ServiceContext } from '@/server/context'
import { cancelRun } from '@/server/runs/cancel'
import { listRuns } from '@/server/runs/list'
import { rerunRun } from '@/server/runs/rerun'
import { retryRun } from '@/server/runs/retry'
import { archiveWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { forge } from '../support/invariants/finality'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let effects: EffectServer
let runtime: TestRuntime
let healthy = false

let endSlow = () => {}
const slowMayEnd = new Promise<void>((done) => {
  endSlow = done
})

beforeAll(async () => {
  database = await freshDatabase()
  effects = await startEffects(({ path }) => {
    if (path === '/moody') return healthy ? { body: { mood: 'good' } } : { status: 400 }
    if (path.startsWith('/slow')) return { after: slowMayEnd, body: { slept: true } }
    return { body: { first: 'done' } }
  })
  runtime = await startTestRuntime(database.url, { CANCEL_GRACE_MS: '120000' })
})

afterAll(async () => {
  await runtime?.stop()
  await effects?.stop()
  await database?.close()
})

const moody = () => ({
  initialStep: 'a',
  payload: { name: { type: 'string' } },
  steps: [
    { id: 'a', type: 'test-effect', url: `${effects.url}a` },
    { id: 'b', type: 'test-effect', url: `${effects.url}moody`, body: { who: '${name}', first: '${first}' } },
    { id: 'c', type: 'end-flow', output: { first: '${first}', mood: '${mood}' } },
  ],
  edges: [
    { from: 'a', to: 'b' },
    { from: 'b', to: 'c' },
  ],
})
const callsOf = (runId: string) => effects.seen.filter(({ key }) => key.startsWith(runId)).map(({ path }) => path)

describe('retry', () => {
  it('continues from the failed step in a new run, without repeating completed steps', async () => {
    healthy = false
    const oldId = await runtime.start(moody(), { name: 'Ada' })
    const old = await runtime.wait(oldId)
    expect(old).toMatchObject({ status: 'failed', outcome: 'failed' })
    healthy = true
    const answer = await retryRun(runtime.ctx, { runId: oldId })
    expect(answer).toEqual({ success: true, runId: expect.stringMatching(/^run_/), retryOf: oldId })
    const run = await runtime.wait(answer.runId)
    expect(run).toMatchObject({
      status: 'completed',
      workflowVersion: old.workflowVersion,
      retryOf: oldId,
      result: { first: 'done', mood: 'good' },
      data: { name: 'Ada', first: 'done', mood: 'good' },
    })
    expect(run.stepExecutionHistory.map((step) => [step.stepId, step.status])).toEqual([
      ['a', 'completed'],
      ['b', 'completed'],
      ['c', 'completed'],
    ])
    expect(run.stepExecutionHistory[0]).toEqual(old.stepExecutionHistory[0])
    expect(callsOf(answer.runId)).toEqual(['/moody'])
    expect(await runtime.status(oldId)).toEqual(old)
  })

  it('a copied step keeps every column except its run, its order and its change', async () => {
    healthy = false
    const oldId = await runtime.start(moody(), { name: 'Ada' })
    await runtime.wait(oldId)
    // A step of this kind leaves some columns empty, so it cannot show that those are copied.
    const columns = await database.sql<{ name: string; type: string }[]>`
      select column_name as name, data_type as type from information_schema.columns
      where table_name = 'step_records' and is_nullable = 'YES'`
    const filler: Record<string, string> = {
      text: "'x'",
      integer: '7',
      bigint: '7',
      boolean: 'true',
      json: `'{"a":1}'`,
      jsonb: `'{"a":1}'`,
    }
    const fill = columns.map(({ name, type }) => `"${name}" = coalesce("${name}", ${filler[type] ?? 'now()'})`)
    await forge(database.sql, [oldId])
    await database.sql.unsafe(`update step_records set ${fill.join(', ')} where run_id = '${oldId}' and step_id = 'a'`)
    const recordOf = async (runId: string) => {
      const [row] = await database.sql`select * from step_records where run_id = ${runId} and step_id = 'a'`
      const { run_id: _run, seq: _seq, change: _change, ...rest } = row ?? {}
      return rest
    }
    const old = await recordOf(oldId)
    expect(Object.values(old)).not.toContain(null)
    const { runId } = await retryRun(runtime.ctx, { runId: oldId })
    await forge(database.sql, [runId])
    expect(await recordOf(runId)).toEqual(old)
    await runtime.wait(runId)
  })

  it('may fail and be retried again', async () => {
    healthy = false
    const first = await runtime.start(moody(), { name: 'Ada' })
    await runtime.wait(first)
    const { runId: second } = await retryRun(runtime.ctx, { runId: first })
    expect(await runtime.wait(second)).toMatchObject({ status: 'failed' })
    healthy = true
    const { runId: third } = await retryRun(runtime.ctx, { runId: second })
    expect(await runtime.wait(third)).toMatchObject({ status: 'completed', retryOf: second })
    expect(callsOf(third)).toEqual(['/moody'])
  })

  it('has nothing to do after an exit that led nowhere, though another exit of that step leads on', async () => {
    const runId = await runtime.start({
      steps: [
        { id: 'first', type: 'set-data', values: { n: 1 } },
        {
          ...{ id: 'ask', type: 'request-user-action', maxVisits: 5 },
          actions: ['yes', 'again'].map((id) => ({ id, label: id })),
        },
      ],
      edges: [
        { from: 'first', to: 'ask' },
        { from: 'ask', to: 'first', on: 'again' },
      ],
    })
    await runtime.wait(runId, ({ status }) => status === 'paused')
    await cancelRun(runtime.ctx, { runId })
    await runtime.wait(runId)
    // As an answer leaves it that was given just before the cancel: the walk is where it was before the pause.
    await forge(database.sql, [runId])
    await database.sql`update walks set step_id = 'first' where run_id = ${runId}`
    const answered = async (exit: string | null) =>
      await database.sql`
        update step_records set status = 'completed', error = null, error_code = null, exit = ${exit}
        where run_id = ${runId} and step_id = 'ask'`
    await answered(null)
    await expect(retryRun(runtime.ctx, { runId })).rejects.toMatchObject({ code: 'CONFLICT' })
    await answered('again')
    const again = await retryRun(runtime.ctx, { runId })
    expect(await runtime.wait(again.runId, ({ status }) => status === 'paused')).toMatchObject({ currentStepId: 'ask' })
    await cancelRun(runtime.ctx, again)
  })

  it('continues after the step at which a run was cancelled, without the results of its cleanup', async () => {
    healthy = true
    const definition = moody()
    const runId = await runtime.start(
      {
        ...definition,
        steps: [
          { ...definition.steps[0], url: `${effects.url}slow` },
          ...definition.steps.slice(1),
          { id: 'undo', type: 'test-effect', url: `${effects.url}undo` },
        ].map((step) => ('body' in step ? { ...step, body: {} } : step)),
        onCancel: 'undo',
      },
      { name: 'Ada' },
    )
    await runtime.wait(runId, () => callsOf(runId).length > 0)
    await cancelRun(runtime.ctx, { runId })
    endSlow()
    expect(await runtime.wait(runId)).toMatchObject({ outcome: 'cancelled', data: { slept: true, first: 'done' } })
    const { runId: retried } = await retryRun(runtime.ctx, { runId })
    const run = await runtime.wait(retried)
    expect(callsOf(retried)).toEqual(['/moody'])
    expect(run.data).toEqual({ name: 'Ada', slept: true, mood: 'good' })
    expect(run.stepExecutionHistory.map((step) => step.stepId).slice(0, 2)).toEqual(['a', 'b'])
  })

  it('repeats a question that nobody answered', async () => {
    const runId = await runtime.start({
      steps: [{ id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } } }],
    })
    await runtime.wait(runId, (run) => run.status === 'paused')
    await cancelRun(runtime.ctx, { runId })
    const { runId: retried } = await retryRun(runtime.ctx, { runId })
    expect(await runtime.wait(retried, (run) => run.status === 'paused')).toMatchObject({
      pauseSignal: { stepId: 'ask' },
    })
  })

  it('is a conflict for a run that is open or completed', async () => {
    healthy = true
    const done = await runtime.start(moody(), { name: 'Ada' })
    await runtime.wait(done)
    await expect(retryRun(runtime.ctx, { runId: done })).rejects.toMatchObject({
      status: 409,
      details: [{ status: 'completed' }],
    })
    const open = await runtime.start({
      steps: [{ id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } } }],
    })
    await runtime.wait(open, (run) => run.status === 'paused')
    await expect(retryRun(runtime.ctx, { runId: open })).rejects.toMatchObject({
      status: 409,
      details: [{ status: 'paused' }],
    })
  })

  it('is refused for an archived workflow, an unknown run, another tenant and a viewer', async () => {
    healthy = false
    const runId = await runtime.start(moody(), { name: 'Ada' })
    const { workflowId } = await runtime.wait(runId)
    for (const again of [
      (ctx: ServiceContext, id: string) => retryRun(ctx, { runId: id }),
      (ctx: ServiceContext, id: string) => rerunRun(ctx, { runId: id, body: {} }),
    ]) {
      await expect(again(runtime.ctx, 'run_unknown')).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
      await expect(again(await runtime.as('owner', 'ten_other'), runId)).rejects.toMatchObject({
        code: 'RUN_NOT_FOUND',
      })
      await expect(again(await runtime.as('viewer'), runId)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    }
    await archiveWorkflow(runtime.ctx, { id: workflowId })
    await expect(retryRun(runtime.ctx, { runId })).rejects.toMatchObject({ code: 'WORKFLOW_ARCHIVED' })
    await expect(rerunRun(runtime.ctx, { runId, body: {} })).rejects.toMatchObject({ code: 'WORKFLOW_ARCHIVED' })
  })
})

describe('rerun', () => {
  it('runs everything again with the old input, or with another one', async () => {
    healthy = true
    const oldId = await runtime.start(moody(), { name: 'Ada' })
    const old = await runtime.wait(oldId)
    const same = await rerunRun(runtime.ctx, { runId: oldId, body: {} })
    expect(await runtime.wait(same.runId)).toMatchObject({ status: 'completed', retryOf: oldId, data: { name: 'Ada' } })
    expect(callsOf(same.runId)).toEqual(['/a', '/moody'])
    const edited = await rerunRun(runtime.ctx, { runId: oldId, body: { data: { name: 'Bob', other: 1 } } })
    const run = await runtime.wait(edited.runId)
    expect(run.data).toEqual({ name: 'Bob', first: 'done', mood: 'good' })
    expect(await runtime.status(oldId)).toEqual(old)
  })

  it('checks the new input like a start', async () => {
    const runId = await runtime.start(moody(), { name: 'Ada' })
    await expect(rerunRun(runtime.ctx, { runId, body: { data: { name: 7 } } })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      details: [{ path: 'data.name' }],
    })
    await expect(rerunRun(runtime.ctx, { runId, body: { data: 'x' } })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})

describe('list', () => {
  it('pages through every run once, newest first, while others start', async () => {
    const ctx = await runtime.as('owner', 'ten_list')
    const { createWorkflow } = await import('@/server/workflows/lifecycle')
    const { startRun } = await import('@/server/runs/start')
    const workflow = await createWorkflow(ctx, { name: 'L', steps: [{ id: 'end', type: 'end-flow' }] })
    const start = () => startRun(ctx, { workflowId: workflow.id, body: {} })
    const started: string[] = []
    for (let i = 0; i < 23; i++) started.push((await start()).runId)
    // Runs started in the same millisecond still have a fixed order.
    await forge(database.sql, started)
    await database.db
      .update(runs)
      .set({ startTime: new Date('2026-01-01T00:00:00Z') })
      .where(eq(runs.tenantId, 'ten_list'))
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page: Awaited<ReturnType<typeof listRuns>> = await listRuns(ctx, {
        limit: '5',
        ...(cursor === null ? {} : { cursor }),
      })
      seen.push(...page.runs.map((run) => run.runId))
      cursor = page.nextCursor
      await start()
    } while (cursor !== null && seen.length < 100)
    expect(seen).toEqual([...started].reverse())
  })

  it('filters, and contains no run data', async () => {
    const paused = await listRuns(runtime.ctx, { status: 'paused' })
    expect(paused.runs.length).toBeGreaterThan(0)
    for (const run of paused.runs) expect(run).toMatchObject({ status: 'paused', outcome: null, error: null })
    const cancelled = await listRuns(runtime.ctx, { outcome: 'cancelled', limit: '1' })
    expect(cancelled.runs).toHaveLength(1)
    expect(cancelled.nextCursor).not.toBeNull()
    const [item] = cancelled.runs
    expect(Object.keys(item ?? {}).sort()).toEqual(
      [
        ...['currentStepId', 'durationMs', 'endTime', 'error', 'outcome', 'retryOf', 'runId', 'startTime'],
        ...['startedBy', 'startedVia', 'status', 'workflowId', 'workflowName', 'workflowVersion'],
      ].sort(),
    )
    const ofOne = await listRuns(runtime.ctx, { workflowId: item?.workflowId })
    expect(new Set(ofOne.runs.map((run) => run.workflowId))).toEqual(new Set([item?.workflowId]))
    expect((await listRuns(await runtime.as('viewer', 'ten_empty'), {})).runs).toEqual([])
  })

  it.each([
    { cursor: 'nonsense' },
    { cursor: Buffer.from('["0000-01-01T00:00:00Z","run_x"]').toString('base64url') },
    { cursor: Buffer.from('["2026-01-01T00:00:00Z","\u0000"]').toString('base64url') },
    { cursor: Buffer.from('[1,2]').toString('base64url') },
    { limit: '0' },
    { limit: '201' },
    { limit: '1.5' },
    { limit: '' },
    { status: 'cancelled' },
    { outcome: 'nope' },
    { workflowId: "'" },
  ])('rejects %o', async (query) => {
    await expect(listRuns(runtime.ctx, query)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})
