import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Actor, ServiceContext } from '@/server/context'
import { AppError } from '@/server/errors'
import { createMember } from '@/server/members/create'
import { cancelRun } from '@/server/runs/cancel'
import { resumeRun } from '@/server/runs/resume'
import { retryRun } from '@/server/runs/retry'
import { startRun } from '@/server/runs/start'
import { terminateRun } from '@/server/runs/terminate'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let runtime: TestRuntime
let adaId: string
beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
  runtime = await startTestRuntime(database.url)
  const ada = { email: 'ada@example.com', name: 'Ada', role: 'admin', password: 'a-long-password' }
  adaId = (await createMember(runtime.ctx, ada)).userId
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

const PAUSE = 'main:ok#1'
const actions = [
  { id: 'approve', label: 'Approve' },
  { id: 'reject', label: 'Reject' },
]
const asking = (more: object) => ({
  steps: [
    { id: 'ok', type: 'request-user-action', actions, ...more },
    { id: 'yes', type: 'set-data', values: { decided: '${ok.actionId}' } },
  ],
  edges: [{ from: 'ok', to: 'yes' }],
})
const two = { needs: { approve: 2 } }

const as = (actor: Actor): ServiceContext => ({ ...runtime.ctx, actor })
const key = (id: string): ServiceContext => as({ kind: 'apiKey', id, role: 'operator' })
const token = (id: string): ServiceContext => as({ kind: 'jwt', id, secretId: 'sec_1', role: 'operator' })
const ada = (): ServiceContext => as({ kind: 'user', id: adaId, name: 'Ada', sessionId: 's', role: 'admin' })

async function paused(more: object): Promise<string> {
  const runId = await runtime.start(asking(more))
  await runtime.wait(runId, ({ status }) => status !== 'running')
  return runId
}
const vote = (ctx: ServiceContext, runId: string, actionId = 'approve', more: object = {}) =>
  resumeRun(ctx, { runId, body: { type: 'request_user_action', actionId, ...more } }).then(
    ({ status }) => status as string,
    (err: unknown) => (err instanceof AppError ? err.code : Promise.reject(err)),
  )

describe('a decision that needs votes', () => {
  test('stays open until they are in, shows them meanwhile, and keeps who voted for what', async () => {
    const runId = await paused({ ...two, assignees: ['user:Ada@example.com', 'user:bob', 'role:owner'], dueIn: 'P1D' })
    const { pauseSignal } = await runtime.status(runId)
    expect(pauseSignal).toMatchObject({
      assignees: ['user:ada@example.com', 'user:bob', 'role:owner'],
      votes: [],
      ...two,
    })
    const due =
      Date.parse((pauseSignal as { dueAt?: string } | null)?.dueAt ?? '') - Date.parse(pauseSignal?.createdAt ?? '')
    expect(Math.abs(due - 86_400_000)).toBeLessThan(1_000)
    expect(await vote(ada(), runId, 'approve', { actionValue: 'fine by me' })).toBe('paused')
    expect((await runtime.status(runId)).pauseSignal).toMatchObject({
      id: PAUSE,
      votes: [{ by: adaId, name: 'Ada', actionId: 'approve', actionValue: 'fine by me', at: expect.any(String) }],
    })
    expect(await vote(token('bob'), runId)).toBe('running')
    const votes = [
      { by: adaId, name: 'Ada', actionId: 'approve' },
      { by: 'bob', name: 'bob', actionId: 'approve' },
    ]
    const run = await runtime.wait(runId)
    expect(run.data).toEqual({ ok: { actionId: 'approve', actionValue: 'approve', votes }, decided: 'approve' })
    expect(run.stepExecutionHistory[0]?.outputData).toEqual({ actionId: 'approve', actionValue: 'approve', votes })
  })

  test('takes one vote of each person, however they come, and another action may need more or fewer', async () => {
    const runId = await paused({ needs: { approve: 3, reject: 2 } })
    expect(await vote(ada(), runId)).toBe('paused')
    for (const again of [
      vote(ada(), runId, 'reject'),
      vote(token('ADA@example.com'), runId),
      vote(key('key_1'), runId, 'approve', { answeredBy: 'ada@example.com' }),
      vote(key('key_1'), runId, 'approve', { answeredBy: adaId }),
    ])
      expect(await again).toBe('ALREADY_VOTED')
    expect(await vote(key('key_1'), runId, 'reject')).toBe('paused')
    expect(await vote(key('key_1'), runId, 'reject')).toBe('ALREADY_VOTED')
    const keyed = await paused(two)
    expect(await vote(key('key_1'), keyed, 'approve', { answeredBy: 'carol' })).toBe('paused')
    expect((await runtime.status(keyed)).pauseSignal).toMatchObject({ votes: [{ by: 'carol', via: 'key_1' }] })
    expect(await vote(key('key_1'), runId, 'reject', { answeredBy: 'carol' })).toBe('running')
    expect(await runtime.wait(runId)).toMatchObject({ data: { decided: 'reject' } })
    expect(await vote(token('late'), runId)).toBe('RUN_NOT_PAUSED')
  })

  test('I37: 50 concurrent votes by 3 people decide exactly once', async () => {
    const runId = await paused({ needs: { approve: 3 } })
    const outcomes = await Promise.all(Array.from({ length: 50 }, (_, n) => vote(token(`person-${n % 3}`), runId)))
    const count = (outcome: string) => outcomes.filter((one) => one === outcome).length
    expect(count('running')).toBe(1)
    expect(count('paused')).toBe(2)
    expect(count('ALREADY_VOTED') + count('RUN_NOT_PAUSED')).toBe(47)
    const run = await runtime.wait(runId)
    expect((run.data as { ok: { votes: unknown[] } }).ok.votes).toHaveLength(3)
    expect(run.stepExecutionHistory.map(({ stepId }) => stepId)).toEqual(['ok', 'yes'])
  })

  test('keeps the vote that decides only together with the decision', async () => {
    const runId = await paused(two)
    expect(await vote(ada(), runId)).toBe('paused')
    await database.sql.unsafe(`
      create function refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$;
      create trigger refuse before update on pauses for each row
        when (new.run_id = '${runId}' and new.answered_at is not null) execute function refuse()`)
    await expect(vote(token('bob'), runId)).rejects.toThrow()
    await database.sql`drop trigger refuse on pauses`
    expect((await runtime.status(runId)).pauseSignal).toMatchObject({ votes: [{ name: 'Ada' }] })
    expect(await vote(ada(), runId)).toBe('ALREADY_VOTED')
    expect(await vote(token('bob'), runId)).toBe('running')
    expect(await runtime.wait(runId)).toMatchObject({ data: { decided: 'approve' } })
  })

  test('takes none once its run was stopped or its time is up, and none for an action it does not have', async () => {
    for (const stop of [cancelRun, terminateRun]) {
      const runId = await paused(two)
      expect(await vote(token('bob'), runId)).toBe('paused')
      expect(await vote(token('carol'), runId, 'other')).toBe('INVALID_INPUT')
      await stop(runtime.ctx, { runId })
      expect(await vote(token('carol'), runId)).toBe('RUN_NOT_PAUSED')
    }
    const late = await paused({ ...two, expiresIn: 'PT1S' })
    expect(await vote(token('bob'), late)).toBe('paused')
    expect(await runtime.wait(late)).toMatchObject({ outcome: 'timed_out' })
    expect(await vote(token('carol'), late)).toBe('RUN_NOT_PAUSED')
  })

  test('in a branch leaves the other branches alone', async () => {
    const ask = (id: string) => ({ id, type: 'request-user-action', actions, ...two })
    const runId = await runtime.start({
      steps: [{ id: 'both', type: 'parallel', branches: [{ id: 'a' }, { id: 'b' }] }, ask('one'), ask('two')],
      edges: [
        { from: 'both', to: 'one', on: 'a' },
        { from: 'both', to: 'two', on: 'b' },
      ],
    })
    await runtime.wait(runId, ({ pauseSignals }) => pauseSignals.length === 2)
    for (const stepId of ['one', 'two', 'two']) {
      const voter = token(stepId === 'one' ? 'bob' : `bob-${Math.random()}`)
      expect(await vote(voter, runId, 'approve', { stepId })).toBe('paused')
    }
    await runtime.wait(runId, ({ pauseSignals }) => pauseSignals.length === 1)
    expect(await vote(token('carol'), runId, 'approve', { stepId: 'one' })).toBe('running')
    expect(await runtime.wait(runId)).toMatchObject({ status: 'completed' })
  })
})

describe('a step with assignees', () => {
  test('is answered by them alone: named, or with their role or a higher one', async () => {
    const { id } = await createWorkflow(runtime.ctx, {
      name: 'Test',
      payload: { who: { type: 'string' } },
      ...asking({ assignees: ['user:${who}', 'role:admin'] }),
    })
    const open = async () => {
      const { runId } = await startRun(runtime.ctx, { workflowId: id, body: { who: 'bob' } as never })
      await runtime.wait(runId, ({ status }) => status === 'paused')
      return runId
    }
    for (const [who, outcome] of [
      [token('bob'), 'running'],
      [token('Bob'), 'NOT_ASSIGNED'],
      [token('carol'), 'NOT_ASSIGNED'],
      [ada(), 'running'],
      [runtime.ctx, 'running'],
      [key('key_1'), 'NOT_ASSIGNED'],
    ] as const)
      expect(await vote(who, await open()), who.actor.id).toBe(outcome)
    const named = await open()
    expect(await vote(key('key_1'), named, 'approve', { answeredBy: 'carol' })).toBe('NOT_ASSIGNED')
    expect(await vote(token('bob'), named, 'approve', { answeredBy: 'carol' })).toBe('INVALID_INPUT')
    expect(await vote(key('key_1'), named, 'approve', { answeredBy: 'ada@example.com' })).toBe('running')
    const [answer] = await database.sql`select answered_by, answered_via from pauses where run_id = ${named}`
    expect(answer).toEqual({ answered_by: adaId, answered_via: 'key_1' })
    expect(await vote(as({ ...ada().actor, role: 'viewer' } as Actor), await open())).toBe('FORBIDDEN')
  })

  test('may be a form too', async () => {
    const runId = await runtime.start({
      steps: [{ id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } }, assignees: ['user:bob'] }],
    })
    await runtime.wait(runId, ({ status }) => status === 'paused')
    const body = { type: 'collect_inputs', data: { n: 1 } }
    await expect(resumeRun(token('carol'), { runId, body })).rejects.toMatchObject({ code: 'NOT_ASSIGNED' })
    await resumeRun(token('bob'), { runId, body })
    expect(await runtime.wait(runId)).toMatchObject({ data: { n: 1 } })
  })

  test('fails with a reason where a template gives no assignee, or fewer people than votes', async () => {
    for (const more of [
      { assignees: ['user:${who}', 'role:${who}'] },
      { assignees: '${who}' },
      { assignees: '${list}', needs: { approve: 3 } },
    ]) {
      const runId = await runtime.start(
        {
          payload: { who: { type: 'string' }, list: { type: 'array' } },
          ...asking(more),
        },
        { who: 'nobody', list: ['user:a', 'user:b'] },
      )
      expect(await runtime.wait(runId), JSON.stringify(more)).toMatchObject({ error: { code: 'INVALID_CONFIG' } })
    }
  })
})

describe('a step that the person who started the run may not decide', () => {
  test('refuses them, also by another name or after another person retried the run', async () => {
    const { id } = await createWorkflow(runtime.ctx, { name: 'Test', ...asking({ noSelfApproval: true }) })
    const start = async (ctx: ServiceContext) => (await startRun(ctx, { workflowId: id, body: {} })).runId
    const runId = await start(token('ada@example.com'))
    await runtime.wait(runId, ({ status }) => status === 'paused')
    expect(await vote(ada(), runId)).toBe('SELF_APPROVAL')
    await terminateRun(runtime.ctx, { runId })
    const again = (await retryRun(token('bob'), { runId })).runId
    await runtime.wait(again, ({ status }) => status === 'paused')
    expect(await vote(ada(), again)).toBe('SELF_APPROVAL')
    expect(await vote(token('bob'), again)).toBe('SELF_APPROVAL')
    expect(await vote(key('key_1'), again, 'approve', { answeredBy: adaId })).toBe('SELF_APPROVAL')
    expect(await vote(token('carol'), again)).toBe('running')
    await runtime.wait(again)
  })

  test('refuses them in a run that their run has started', async () => {
    const child = await createWorkflow(runtime.ctx, { name: 'Child', ...asking({ noSelfApproval: true }) })
    await publishWorkflow(runtime.ctx, { id: child.id })
    const steps = [{ id: 'sub', type: 'run-workflow', workflowId: child.id }]
    const parent = await createWorkflow(runtime.ctx, { name: 'Parent', steps })
    const { runId } = await startRun(token('ada@example.com'), { workflowId: parent.id, body: {} })
    await runtime.wait(runId, ({ currentStepId }) => currentStepId === 'sub')
    await terminateRun(runtime.ctx, { runId })
    const again = (await retryRun(token('bob'), { runId })).runId
    const childOf = async () => {
      const [row] = await database.sql<{ id: string }[]>`
        select id from runs where parent_run_id = ${again} and status = 'paused'`
      return row?.id ?? ''
    }
    await expect.poll(childOf).not.toBe('')
    const asked = await childOf()
    expect(await vote(ada(), asked)).toBe('SELF_APPROVAL')
    expect(await vote(token('carol'), asked)).toBe('running')
    await runtime.wait(again)
  })
})
