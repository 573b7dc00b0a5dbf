import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Visitor } from '@/server/auth/visitor'
import type { Actor, ServiceContext } from '@/server/context'
import type { JsonObject } from '@/server/definition/json'
import { AppError } from '@/server/errors'
import { answerTaskLink } from '@/server/links/answer'
import { createTaskLink } from '@/server/links/create'
import { openTaskLink } from '@/server/links/open'
import { holdAnswer } from '@/server/runs/held/hold'
import { undoAnswer } from '@/server/runs/held/undo'
import { resumeRun } from '@/server/runs/resume'
import { revealField } from '@/server/runs/reveal'
import { getRunOverview } from '@/server/views/runs/overview'
import { getTask } from '@/server/views/tasks/get'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { newVisitor } from '../trpc/support'

let database: FreshDatabase
let runtime: TestRuntime
let tess: ServiceContext
let admin: ServiceContext
beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
  runtime = await startTestRuntime(database.url, { ANSWER_UNDO_MS: '60000', ENCRYPTION_KEY: 'ab'.repeat(32) })
  tess = await person('operator')
  admin = await person('admin')
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

async function person(role: 'operator' | 'admin'): Promise<ServiceContext> {
  const { userId } = await newVisitor(runtime.ctx, role)
  return { ...runtime.ctx, actor: { kind: 'user', id: userId, name: role, sessionId: 's', role } }
}

const PAUSE = 'main:ok#1'
const REASON = { reason: { type: 'string', label: 'Why' }, limit: { type: 'integer', required: false } }
const actions = [
  { id: 'approve', label: 'Approve' },
  { id: 'reject', label: 'Reject', fields: REASON },
]
const asking = (more: object = {}) => ({
  steps: [
    { id: 'ok', type: 'request-user-action', actions, ...more },
    { id: 'after', type: 'set-data', values: { said: '${ok.reason ?? "-"} ${ok.remark ?? "-"}' } },
  ],
  edges: [{ from: 'ok', to: 'after' }],
})

async function paused(more: object = {}): Promise<string> {
  const runId = await runtime.start(asking(more))
  await runtime.wait(runId, ({ status }) => status !== 'running')
  return runId
}
const bodyOf = (actionId: string, more: object = {}) => ({ type: 'request_user_action', actionId, ...more })
const resume = (runId: string, actionId: string, more: object = {}, ctx = runtime.ctx) =>
  resumeRun(ctx, { runId, body: bodyOf(actionId, more) })
const token = (id: string): ServiceContext => ({
  ...runtime.ctx,
  actor: { kind: 'jwt', id, secretId: 'sec_1', role: 'operator' } satisfies Actor,
})
/** The data of the ended run, and the decision in it. */
const endOf = async (runId: string) => (await runtime.wait(runId)).data as JsonObject
const decidedIn = async (runId: string) => (await endOf(runId)).ok
const detailsOf = (answer: Promise<unknown>) =>
  answer.then(
    () => null,
    (err: unknown) => (err instanceof AppError ? err.details : Promise.reject(err)),
  )

const FIELD = fc.record(
  {
    type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'object', 'array', 'any'),
    required: fc.boolean(),
    default: fc.constantFrom<unknown>('x', 1, true),
    options: fc.constantFrom<unknown[]>(['a', 1], [true]),
  },
  { requiredKeys: ['type'] },
)
const FIELDS = fc.dictionary(fc.constantFrom('a', 'b', 'toString', 'length'), FIELD, { minKeys: 1, maxKeys: 3 })
const VALUES = fc.dictionary(
  fc.constantFrom('a', 'b', 'toString', 'length', 'unasked'),
  fc.constantFrom<unknown>('a', 'other', 1, 1.5, true, null, [], {}, [{ deep: 1 }]),
  { maxKeys: 4 },
)

describe('an action with fields', () => {
  test('takes and refuses what a form with these fields does, and refusals leave the run as it was', async () => {
    await fc.assert(
      fc.asyncProperty(FIELDS, VALUES, async (fields, data) => {
        const decision = await paused({ actions: [{ id: 'go', label: 'Go', fields }, actions[0]] })
        const form = await runtime.start({ steps: [{ id: 'ask', type: 'collect-inputs', output: fields }] })
        await runtime.wait(form, ({ status }) => status === 'paused')
        const asForm = await detailsOf(resumeRun(runtime.ctx, { runId: form, body: { type: 'collect_inputs', data } }))
        expect(await detailsOf(resume(decision, 'go', { data }))).toEqual(asForm)
        if (asForm !== null) {
          expect(await runtime.status(decision)).toMatchObject({ status: 'paused', pauseSignal: { id: PAUSE } })
          await resume(decision, 'approve')
          expect(await decidedIn(decision)).toEqual({ actionId: 'approve', actionValue: 'approve' })
          return
        }
        const filled = await runtime.wait(form)
        expect(await decidedIn(decision)).toEqual({ actionId: 'go', actionValue: 'go', ...filled.data })
      }),
      { numRuns: 25 },
    )
  })

  test('shows them at the pause, and gives them to later steps; without any, nothing is new', async () => {
    const runId = await paused({ saveAs: 'verdict', remark: 'optional' })
    expect((await runtime.status(runId)).pauseSignal).toMatchObject({ actions, remark: 'optional' })
    await resume(runId, 'reject', { data: { reason: 'dear', unasked: 1 }, remark: ' too much ' })
    const decision = { actionId: 'reject', actionValue: 'reject', reason: 'dear', remark: 'too much' }
    const run = await runtime.wait(runId)
    expect(run.data).toEqual({ ok: decision, verdict: decision, said: 'dear too much' })
    const plain = await paused({ actions: [actions[0]] })
    const { id: _id, createdAt: _at, ...signal } = (await runtime.status(plain)).pauseSignal ?? {}
    expect(JSON.stringify(signal)).toBe(
      '{"type":"request_user_action","stepId":"ok","actions":[{"id":"approve","label":"Approve"}],"expiresAt":null}',
    )
    // Other values that callers have always sent along stay without effect.
    await resume(plain, 'approve', { data: null, remark: 'fine' })
    expect((await runtime.wait(plain)).data).toEqual({
      ok: { actionId: 'approve', actionValue: 'approve' },
      said: '- -',
    })
  })

  test('a required remark is required, and stays a comment too', async () => {
    const runId = await paused({ remark: 'required' })
    for (const remark of [undefined, '', '  '])
      expect(await detailsOf(resume(runId, 'approve', { remark }))).toEqual([
        { path: 'remark', message: 'remark is required' },
      ])
    await resume(runId, 'approve', { remark: 'fine' }, token('bob'))
    expect((await endOf(runId)).said).toBe('- fine')
    const { answers } = await getRunOverview(admin, { runId })
    expect(answers[0]?.remarks).toMatchObject([{ by: 'bob', text: 'fine' }])
  })

  test('a file must be one that is stored', async () => {
    const runId = await paused({ actions: [{ id: 'go', label: 'Go', fields: { scan: { type: 'file' } } }] })
    const data = { scan: '5a1f3bb4-9f0e-4f6c-8f5a-0d3c2b1a9e8d' }
    expect(await detailsOf(resume(runId, 'go', { data }))).toMatchObject([{ path: 'data.scan' }])
    expect(await runtime.status(runId)).toMatchObject({ status: 'paused' })
  })

  test('an answer in the dashboard can be undone with everything in it, and counts later as it was given', async () => {
    const runId = await paused({ remark: 'optional' })
    const body = { ...bodyOf('reject', { data: { reason: 'dear' }, remark: 'ask Bob' }), pauseId: PAUSE }
    expect(await detailsOf(holdAnswer(tess, { runId, body: { ...body, data: {} } }))).toMatchObject([
      { path: 'data.reason', message: 'reason is required' },
    ])
    await holdAnswer(tess, { runId, body })
    const undone = await undoAnswer(tess, { runId, pauseId: PAUSE })
    expect(undone?.answer).toMatchObject({ actionId: 'reject', data: { reason: 'dear' }, remark: 'ask Bob' })
    await resumeRun(tess, { runId, body })
    expect((await endOf(runId)).said).toBe('dear ask Bob')
    expect(await getTask(tess, { runId, pauseId: PAUSE })).toMatchObject({ labels: { reason: 'Why' } })
  })

  test('with votes, each has its own, and the decision has those of the vote that decided', async () => {
    const runId = await paused({ needs: { approve: 2, reject: 2 }, remark: 'optional' })
    const cast = (who: string, reason: string, remark?: string) =>
      resume(runId, 'reject', { data: { reason }, ...(remark ? { remark } : {}) }, token(who))
    expect(await detailsOf(resume(runId, 'reject', {}, token('ada')))).toMatchObject([{ path: 'data.reason' }])
    expect(await cast('ada', 'dear', 'sorry')).toMatchObject({ status: 'paused' })
    await resume(runId, 'approve', {}, token('bob'))
    expect((await runtime.status(runId)).pauseSignal).toMatchObject({
      votes: [{ by: 'ada', data: { reason: 'dear' }, remark: 'sorry' }, { by: 'bob' }],
    })
    await cast('carol', 'late')
    expect(await decidedIn(runId)).toEqual({
      ...{ actionId: 'reject', actionValue: 'reject', reason: 'late' },
      votes: [
        { by: 'ada', name: 'ada', actionId: 'reject', data: { reason: 'dear' }, remark: 'sorry' },
        { by: 'bob', name: 'bob', actionId: 'approve' },
        { by: 'carol', name: 'carol', actionId: 'reject', data: { reason: 'late' } },
      ],
    })
    const { answers } = await getRunOverview(admin, { runId })
    expect(answers[0]?.votes?.filledIn.map(({ name, data }) => [name, data.reason])).toEqual([
      ['ada', 'dear'],
      ['carol', 'late'],
    ])
  })

  test('votes leave room for the decision: the one that would be too large is refused, and others still decide', async () => {
    const runId = await paused({ needs: { approve: 1, reject: 3 } })
    const large = 'x'.repeat(300_000)
    const outcomes: (string | undefined)[] = []
    for (const who of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) => `${name}-${runId}`))
      outcomes.push(
        await resume(runId, 'reject', { data: { reason: large } }, token(who)).then(
          ({ status }) => status,
          (err: AppError) => err.details[0]?.message,
        ),
      )
    expect(outcomes.some((outcome) => outcome?.includes('run data would be larger'))).toBe(
      !outcomes.includes('running'),
    )
    if (!outcomes.includes('running')) await resume(runId, 'approve', {}, token('boss'))
    expect(await runtime.wait(runId)).toMatchObject({ status: 'completed' })
  })

  test('a sensitive field is hidden wherever people look, and can be revealed', async () => {
    const fields = { iban: { type: 'string', sensitive: true, default: 'DE00 DEFAULT' } }
    const runId = await paused({ actions: [{ id: 'pay', label: 'Pay', fields }] })
    const task = await getTask(tess, { runId, pauseId: PAUSE })
    expect(JSON.stringify(task)).not.toContain('DE00')
    expect(task.signal).toMatchObject({ actions: [{ fields: { iban: { sensitive: true } } }] })
    await resume(runId, 'pay', { data: { iban: 'DE12 3456' } })
    await runtime.wait(runId)
    const seen = await getRunOverview(admin, { runId })
    expect(JSON.stringify(seen)).not.toContain('DE12')
    expect(seen.hidden.data).toEqual(['ok.iban'])
    expect(await revealField(admin, { runId, of: 'data', field: 'ok.iban' })).toEqual({ value: 'DE12 3456' })
    for (const field of ['ok.actionId', 'iban', 'ok.iban.x'])
      await expect(revealField(admin, { runId, of: 'data', field })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})

describe('a task link', () => {
  test('asks for the fields and the remark, and its receipt shows them', async () => {
    const scan = { type: 'file', required: false }
    const secret = { type: 'string', secret: true }
    const runId = await paused({
      remark: 'required',
      actions: [actions[0], { ...actions[1], fields: { ...REASON, scan, pin: secret } }],
    })
    const { url } = await createTaskLink(tess, { runId, body: {}, origin: 'https://millrace.example.com' })
    const tokenOf = url.slice(url.indexOf('#') + 1)
    const visitor: Visitor = {
      ...{ db: runtime.db, log: runtime.ctx.log, now: runtime.ctx.now, requestId: 'from-a-link' },
      headers: new Headers({ 'x-forwarded-for': '203.0.113.7' }),
    }
    const opened = await openTaskLink(visitor, { token: tokenOf })
    expect(opened).toMatchObject({ state: 'open', leftOut: ['scan'], asked: { remark: 'required' } })
    const { asked } = opened as { asked: { actions: { fields?: JsonObject }[] } }
    expect(Object.keys(asked.actions[1]?.fields ?? {})).toEqual(['reason', 'limit', 'pin'])
    const answer = { token: tokenOf, actionId: 'reject', data: { reason: 'dear', pin: '1234' } }
    await expect(answerTaskLink(visitor, answer)).rejects.toMatchObject({ details: [{ path: 'remark' }] })
    expect(await answerTaskLink(visitor, { ...answer, remark: 'no' })).toMatchObject({
      state: 'used',
      given: { label: 'Reject', remark: 'no', data: { reason: 'dear' } },
    })
    expect(await decidedIn(runId)).toMatchObject({ reason: 'dear', pin: '1234', remark: 'no' })
  })
})
