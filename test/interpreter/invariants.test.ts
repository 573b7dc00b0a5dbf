import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { NextStep } from '@/server/interpreter/plan/next-step'
import { openForEngine, takeAnswer } from '@/server/interpreter/wait/pause'
import { claimWalk } from '@/server/interpreter/walk/claim'
import { visitStep } from '@/server/interpreter/walk/visit'
import type { WalkClaim } from '@/server/run-store/names'
import { resumeRun } from '@/server/runs/resume'
import { retryRun } from '@/server/runs/retry'
import { startRun } from '@/server/runs/start'
import { terminateRun } from '@/server/runs/terminate'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type Effect, startEffects } from '../support/effects'
import { checkInvariants, expectInvariants } from '../support/invariants/check'
import { checkEffects } from '../support/invariants/effects'
import { installFinality } from '../support/invariants/finality'
import { newTenant } from '../support/tenant'

let database: FreshDatabase
let ctx: ServiceContext
beforeAll(async () => {
  database = await freshDatabase()
  Object.assign(process.env, { DATABASE_URL: database.url, MILLRACE_TEST_STEPS: '1', LOG_LEVEL: 'fatal' })
  ctx = await newTenant(database)
})
afterAll(() => database?.close())

const effect = (id: string) => ({ id, type: 'test-effect', body: { [id]: true } })
const ask = (id: string) => ({ id, type: 'collect-inputs', output: { [id]: { type: 'number' } } })
const handoff = () => new NextStep(false)

/** A run whose walk this test drives in place of the engine. */
async function begin(...steps: { id: string; url?: string }[]): Promise<WalkClaim> {
  const edges = steps.slice(1).map(({ id }, index) => ({ from: steps[index]?.id, to: id }))
  const workflow = await createWorkflow(ctx, { name: 'Planted', steps, edges })
  const { runId } = await startRun(ctx, { workflowId: workflow.id, body: {} })
  return { tenantId: ctx.tenantId, runId, branch: 'main', epoch: 1, segment: 1, engineRunId: 'engine_1' }
}

/** The database's present violations: invariants and places. */
async function violations(engine = true): Promise<string[]> {
  return (await checkInvariants(database.sql, { engine })).map(({ name, where }) => `${name} ${where}`)
}

// Each test leaves a fault behind.
beforeEach(() => database.sql`truncate runs, outbox cascade`)

describe('the checker finds', () => {
  test('nothing wrong with runs that were just started, are under way, or have ended', async () => {
    await begin(effect('a'))
    expect(await violations()).toEqual([])
    const ref = await begin(effect('a'), ask('n'), effect('b'))
    await claimWalk(ctx, ref, 'engine_1', handoff())
    expect(await violations(false)).toEqual([])
    await visitStep(ctx, ref, { stepId: 'a', visit: 1 }, handoff())
    await openForEngine(ctx, ref, 'main:n#1')
    expect(await violations(false)).toEqual([])
    await resumeRun(ctx, { runId: ref.runId, body: { type: 'collect_inputs', data: { n: 1 } } })
    expect(await violations(false)).toEqual([])
    await takeAnswer(ctx, ref, 'main:n#1', 0, handoff())
    await visitStep(ctx, ref, { stepId: 'b', visit: 1 }, handoff())
    expect(await violations(false)).toEqual([])
    await expectInvariants(database.sql, { engine: false })
  })

  test('a lost outbox row: a run that nothing will ever continue', async () => {
    const { runId } = await begin(effect('a'))
    await database.sql`delete from outbox`
    expect(await violations()).toEqual([`I17 ${runId}: main 1.1`])
    await expect(expectInvariants(database.sql)).rejects.toThrow(
      /I17: a requested walk has the event, or the engine run, that will claim it. Not so: run_/,
    )
  })

  test('a record written twice', async () => {
    const ref = await begin(effect('a'))
    await claimWalk(ctx, ref, 'engine_1', handoff())
    await visitStep(ctx, ref, { stepId: 'a', visit: 1 }, handoff())
    const again = (visit: number) => database.sql`
      insert into step_records (tenant_id, run_id, branch, step_id, visit, step_type, step_name, status, start_time,
        end_time, delta)
      select tenant_id, run_id, branch, step_id, ${visit}, step_type, step_name, status, end_time, end_time, delta
      from step_records where run_id = ${ref.runId}`
    await again(2)
    // No edge leads from a step to itself.
    expect(await violations(false)).toEqual([`I22 ${ref.runId}: a to a`])
    await database.sql`delete from step_records where visit = 2`
    await database.sql`alter table step_records drop constraint step_records_tenant_id_run_id_branch_step_id_visit_pk`
    await again(1)
    expect(await violations(false)).toEqual([
      `I14 ${ref.runId}: a has 2 records up to visit 1`,
      `I22 ${ref.runId}: a to a`,
    ])
    await database.sql`truncate step_records`
    await database.sql`alter table step_records add constraint step_records_tenant_id_run_id_branch_step_id_visit_pk
      primary key (tenant_id, run_id, branch, step_id, visit)`
  })

  test('a resume applied to the next pause', async () => {
    const ref = await begin(ask('one'), ask('two'))
    await claimWalk(ctx, ref, 'engine_1', handoff())
    await openForEngine(ctx, ref, 'main:one#1')
    await resumeRun(ctx, { runId: ref.runId, body: { type: 'collect_inputs', data: { one: 1 } } })
    await takeAnswer(ctx, ref, 'main:one#1', 0, handoff())
    await openForEngine(ctx, ref, 'main:two#1')
    await database.sql`
      update pauses two set answered_at = two.created_at, answered_by = one.answered_by, answer = one.answer
      from pauses one where one.id = 'main:one#1' and two.id = 'main:two#1'`
    await database.sql`update pauses set answer = null where id = 'main:one#1'`
    expect(await violations(false)).toEqual([
      `I20 ${ref.runId} is paused`,
      `I4 ${ref.runId}: main:one#1`,
      `I4 ${ref.runId}: main:one#1`,
    ])
  })

  test('a vote that is missing, one that did not decide, and one after the decision', async () => {
    const actions = [{ id: 'ok', label: 'OK' }]
    const ref = await begin({ id: 'ask', type: 'request-user-action', actions, needs: { ok: 2 } } as never)
    await claimWalk(ctx, ref, 'engine_1', handoff())
    await openForEngine(ctx, ref, 'main:ask#1')
    const vote = (answeredBy: string) =>
      resumeRun(ctx, { runId: ref.runId, body: { type: 'request_user_action', actionId: 'ok', answeredBy } })
    const plant = (person: string) => database.sql`
      insert into pause_votes (tenant_id, run_id, pause_id, person, name, action_id, action_value, created_at)
      values (${ref.tenantId}, ${ref.runId}, 'main:ask#1', ${person}, ${person}, 'ok', 'ok', now() + interval '1 s')`
    const remove = (person: string) => database.sql`delete from pause_votes where person = ${person}`
    const at = `I37 ${ref.runId}: main:ask#1`
    await vote('ada')
    expect(await violations(false)).toEqual([])
    await plant('eve')
    expect(await violations(false)).toEqual([`${at} has 2 votes for ok of 2`])
    await remove('eve')
    await vote('bob')
    expect(await violations(false)).toEqual([])
    await plant('eve')
    expect(await violations(false)).toEqual([`${at} has 3 votes for ok of 2`, `${at} by eve`, at])
    await remove('eve')
    await remove('bob')
    expect(await violations(false)).toEqual([`${at} has 1 votes for ok of 2`, at])
  })

  test('a stale claim: a walk whose engine run has ended, and a lease that never does', async () => {
    const ref = await begin(effect('a'))
    await claimWalk(ctx, ref, 'engine_gone', handoff())
    expect(await violations()).toEqual([`I17 ${ref.runId}: main, running, claimed by engine_gone, gone`])
    const event = JSON.stringify({ name: 'workflow/walk.requested', data: ref })
    await database.sql`
      insert into engine.runs (id, function_id, event, created_at) values ('engine_gone', 'run-workflow', ${event}, now())`
    const job = (dueInS: number) => database.sql`
      insert into engine.jobs (id, run_id, function_id, kind, due_at, owner)
      values ('job_1', 'engine_gone', 'run-workflow', 'run', now() + ${dueInS} * interval '1 second', 'boot_1')
      on conflict (id) do update set due_at = excluded.due_at`
    await job(10)
    expect(await violations()).toEqual([])
    await job(3_600)
    expect(await violations()).toEqual(['I16 job job_1 of boot_1'])
    await database.sql`insert into engine.workers values ('boot_2', 'host', 1, now(), now())`
    await job(-3_600)
    expect(await violations()).toEqual(['I16 job job_1 of boot_1'])
    await database.sql`truncate engine.runs, engine.jobs, engine.workers`
  })

  test('two engine runs for one segment of a walk', async () => {
    const ref = await begin(effect('a'))
    for (const [id, segment] of [
      ['engine_1', 1],
      ['engine_2', 1],
      ['engine_3', 2],
    ] as const) {
      const event = JSON.stringify({ name: 'workflow/walk.requested', data: { ...ref, segment } })
      await database.sql`
        insert into engine.runs (id, function_id, event, created_at) values (${id}, 'run-workflow', ${event}, now())`
      expect(await violations(), id).toEqual(id === 'engine_1' ? [] : [`I16 ${ref.runId}: main 1.1`])
      if (id === 'engine_2') await database.sql`delete from engine.runs where id = 'engine_2'`
    }
    await database.sql`truncate engine.runs`
  })

  test('data that differs from the steps’ additions', async () => {
    const ref = await begin(effect('a'), effect('b'))
    await claimWalk(ctx, ref, 'engine_1', handoff())
    await visitStep(ctx, ref, { stepId: 'a', visit: 1 }, handoff())
    await database.sql`update runs set data = '{}' where id = ${ref.runId}`
    expect(await violations(false)).toEqual([`I14 ${ref.runId}`])
  })

  test('a run that was stopped or repeated without an entry in the audit log, or with two', async () => {
    const { runId } = await begin(effect('a'))
    await terminateRun(ctx, { runId, reason: 'A test' })
    const { runId: again } = await retryRun(ctx, { runId })
    expect(await violations()).toEqual([])
    const entries = (change: string) => database.sql.unsafe(`${change} where thing_id = '${runId}'`)
    await entries(`insert into audit_entries overriding user value select tenant_id, id || '2', seq, at, actor_kind, actor_id,
      actor_name, action, thing_kind, thing_id, thing_name, details, request_id, address from audit_entries`)
    expect(await violations()).toEqual([`I32 ${runId}`, `I32 ${again} repeats ${runId}`])
    await entries('delete from audit_entries')
    expect(await violations()).toEqual([`I32 ${runId} was stopped by key_owner`, `I32 ${again} repeats ${runId}`])
  })

  test('a late effect: any write after the end is refused, and counted although it rolls back', async () => {
    await installFinality(database.sql)
    const ref = await begin(effect('a'), ask('n'))
    await claimWalk(ctx, ref, 'engine_1', handoff())
    await visitStep(ctx, ref, { stepId: 'a', visit: 1 }, handoff())
    const refuses = async (what: RegExp, statement: () => PromiseLike<unknown>) => {
      await expect(Promise.resolve(statement())).rejects.toThrow(what)
    }
    await refuses(
      /I14: a of run_\w+ has ended/,
      () => database.sql`
      update step_records set output_data = '{"a": 2}' where run_id = ${ref.runId} and step_id = 'a'`,
    )
    await openForEngine(ctx, ref, 'main:n#1')
    await resumeRun(ctx, { runId: ref.runId, body: { type: 'collect_inputs', data: { n: 1 } } })
    await refuses(
      /I4: the answer to main:n#1/,
      () => database.sql`
      update pauses set answer = '{"data": {"n": 2}}' where run_id = ${ref.runId}`,
    )
    await refuses(
      /I16: the walk main/,
      () => database.sql`
      update walks set engine_run_id = 'engine_2' where run_id = ${ref.runId}`,
    )
    await takeAnswer(ctx, ref, 'main:n#1', 0, handoff())
    await refuses(
      /I8: the run run_\w+ has ended/,
      () => database.sql`
      update runs set data = '{}' where id = ${ref.runId}`,
    )
    await refuses(/I32: the entry aud_\w+ cannot change/, () => database.sql`update audit_entries set details = '{}'`)
    await sleep(2)
    await refuses(
      /I8: late began in the ended run/,
      () => database.sql`
      insert into step_records (tenant_id, run_id, branch, step_id, visit, step_type, step_name, status, start_time)
      values (${ref.tenantId}, ${ref.runId}, 'main', 'late', 1, 'test-effect', 'Late', 'running', now())`,
    )
    expect((await violations(false)).sort()).toEqual([
      'I14 refused 1 times',
      'I16 refused 1 times',
      'I32 refused 1 times',
      'I4 refused 1 times',
      'I8 refused 2 times',
    ])
  })

  test('a move that no entry reports, one in the middle of an attempt, and one that leads elsewhere', async () => {
    const { runId, ...ref } = await begin(effect('a'), ask('n'))
    await claimWalk(ctx, { ...ref, runId }, 'engine_1', handoff())
    const [run] = await database.sql<{ id: string }[]>`select workflow_id as id from runs where id = ${runId}`
    const { version } = await publishWorkflow(ctx, { id: run?.id ?? '' })
    await database.sql`
      insert into run_moves (tenant_id, run_id, n, workflow_id, from_version, to_version, after_seq, batch, moved_by, moved_at)
      select ${ctx.tenantId}, ${runId}, 2, ${run?.id ?? ''}, ${version}, ${version}, max(seq), 'mov_1', 'a', now()
      from step_records where run_id = ${runId}`
    expect((await violations(false)).filter((one) => one.includes(runId)).sort()).toEqual([
      `I32 ${runId}`,
      `I53 ${runId}: a at move 2`,
      `I53 ${runId}: move 2 from ${version} to ${version}`,
    ])
  })

  test('effects that began late, once too often, or not at all', async () => {
    const effects = await startEffects()
    try {
      const ref = await begin({ ...effect('a'), url: effects.url }, { ...effect('b'), url: effects.url })
      await claimWalk(ctx, ref, 'engine_1', handoff())
      await visitStep(ctx, ref, { stepId: 'a', visit: 1 }, handoff())
      await visitStep(ctx, ref, { stepId: 'b', visit: 1 }, handoff())
      const found = async (seen: Effect[]) =>
        (await checkEffects(database.sql, seen)).map(({ name, says }) => `${name} ${says}`)
      expect(await found(effects.seen)).toEqual([])
      const [a, b] = effects.seen as [Effect, Effect]
      expect(await found([a, { ...b, at: new Date(Date.now() + 1_000) }])).toEqual([
        'I14 a step whose result is recorded never runs again',
        'I8 no effect begins after the end of its run',
      ])
      expect(await found([a, a, b])).toEqual(['I14 a step runs once per counted attempt'])
      expect(await found([a])).toEqual(['I13 a completed step had its effect'])
      expect(await found([a, b, { ...b, key: 'run_x:main:b:1' }])).toEqual([
        'I13 every effect belongs to a recorded visit',
      ])
    } finally {
      await effects.stop()
    }
  })
})
