import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AppError } from '@/server/errors'
import { resumeRun } from '@/server/runs/resume'
import { catalogOf } from '@/server/steps/catalog'
import { stepTypes } from '@/server/steps/registry'
import { getRunOverview } from '@/server/views/runs/overview'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { rounds } from '../support/rounds'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
  runtime = await startTestRuntime(database.url)
})
afterAll(async () => {
  await runtime.stop()
  await database.close()
})

const form = {
  steps: [
    { id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } } },
    { id: 'end', type: 'end-flow', output: { n: '${n}' } },
  ],
  edges: [{ from: 'ask', to: 'end' }],
}
const twoForms = {
  steps: [
    { id: 'one', type: 'collect-inputs', output: { a: { type: 'string' } } },
    { id: 'two', type: 'collect-inputs', output: { b: { type: 'string' } } },
  ],
  edges: [{ from: 'one', to: 'two' }],
}
const answer = (runId: string, body: object) => resumeRun(runtime.ctx, { runId, body })
const codeOf = (err: unknown) => (err instanceof AppError ? err.code : err)

describe('a pause', () => {
  test('whose title has to be cut in the middle of a character still asks', async () => {
    const cut = { title: `${'x'.repeat(499)}😀`, message: `${'x'.repeat(9_999)}😀` }
    const actions = [{ id: 'ok', label: 'OK' }]
    for (const step of [
      { ...form.steps[0], ...cut },
      { id: 'ask', type: 'request-user-action', actions, ...cut },
    ]) {
      const runId = await runtime.start({ steps: [step] })
      const run = await runtime.wait(runId, ({ status }) => status !== 'running')
      expect(run).toMatchObject({ status: 'paused', pauseSignal: { title: 'x'.repeat(499) } })
    }
  })

  test('I21: shows the documented descriptor, which is gone in the first status after the answer', async () => {
    const runId = await runtime.start(form)
    const paused = await runtime.wait(runId, (run) => run.status === 'paused')
    expect(paused.pauseSignal).toMatchObject({
      type: 'collect_inputs',
      stepId: 'ask',
      fields: { n: { type: 'number' } },
    })
    expect(paused.stepExecutionHistory).toMatchObject([{ stepId: 'ask', status: 'running' }])
    expect(await answer(runId, { type: 'collect_inputs', data: { n: 1 } })).toEqual({
      success: true,
      runId,
      status: 'running',
    })
    const after = await runtime.status(runId)
    expect(['running', 'completed']).toContain(after.status)
    expect(after.pauseSignal).toBeNull()
    expect((await runtime.wait(runId)).result).toEqual({ n: 1 })
  })

  test('asks for its fields in the order in which they were written', async () => {
    const names = ['reason', 'by', 'amount', 'a']
    const output = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
    const runId = await runtime.start({ steps: [{ id: 'ask', type: 'collect-inputs', output }] })
    const { pauseSignal } = await runtime.wait(runId, (run) => run.status === 'paused')
    expect(Object.keys((pauseSignal as { fields?: object } | null)?.fields ?? {})).toEqual(names)
    const { pauses } = await getRunOverview(runtime.ctx, { runId })
    expect(pauses.map(({ signal }) => signal.type === 'collect_inputs' && Object.keys(signal.fields))).toEqual([names])
  })

  test('I7: rejects an answer of the wrong kind, type or field without any change', async () => {
    const runId = await runtime.start(form)
    const before = await runtime.wait(runId, (run) => run.status === 'paused')
    for (const body of [
      {},
      { type: 'nonsense' },
      { type: 'collect_inputs' },
      { type: 'collect_inputs', data: {} },
      { type: 'collect_inputs', data: { n: '1' } },
      { type: 'collect_inputs', data: [1] },
      { type: 'request_user_action', actionId: 'ask' },
      { type: 'collect_inputs', data: { n: 1 }, stepId: 'elsewhere' },
    ]) {
      const err = await answer(runId, body).catch(codeOf)
      expect(['INVALID_INPUT', 'RUN_NOT_PAUSED'], JSON.stringify(body)).toContain(err)
    }
    expect(await runtime.status(runId)).toEqual(before)
  })

  test('ignores fields that were not asked for', async () => {
    const runId = await runtime.start(form)
    await runtime.wait(runId, (run) => run.status === 'paused')
    await answer(runId, { type: 'collect_inputs', data: { n: 2, extra: true, __proto__x: 1 } })
    expect((await runtime.wait(runId)).data).toEqual({ n: 2 })
  })

  test('uses the action’s id as the value of a choice without one, and the catalog says so', async () => {
    const action = { id: 'yes-please', label: 'Approve it' }
    const runId = await runtime.start({ steps: [{ id: 'boss', type: 'request-user-action', actions: [action] }] })
    await runtime.wait(runId, (run) => run.status === 'paused')
    await answer(runId, { type: 'request_user_action', actionId: action.id })
    const { data } = await runtime.wait(runId)
    expect(data).toEqual({ boss: { actionId: action.id, actionValue: action.id } })
    const told = catalogOf(stepTypes()).steps.find(({ type }) => type === 'request-user-action')?.outputs
    expect(told?.fields).toMatchObject({
      'request-user-action': {
        properties: {
          actionId: { description: 'The id of the action chosen' },
          actionValue: { description: 'The value sent with the choice; the action’s id unless one was sent' },
        },
      },
    })
  })

  test('I6: a resume for one pause never answers the next', async () => {
    const runId = await runtime.start(twoForms)
    const first = await runtime.wait(runId, (run) => run.pauseSignal?.id === 'main:one#1')
    await answer(runId, { type: 'collect_inputs', data: { a: 'x' }, pauseId: first.pauseSignal?.id })
    await runtime.wait(runId, (run) => run.pauseSignal?.id === 'main:two#1')
    expect(
      await answer(runId, { type: 'collect_inputs', data: { a: 'x', b: 'y' }, pauseId: 'main:one#1' }).catch(codeOf),
    ).toBe('RUN_NOT_PAUSED')
    expect((await runtime.status(runId)).pauseSignal).toMatchObject({ stepId: 'two' })
    await answer(runId, { type: 'collect_inputs', data: { b: 'z' }, stepId: 'two' })
    expect((await runtime.wait(runId)).result).toEqual({ a: 'x', b: 'z' })
  })

  test('I5: of 20 simultaneous resumes exactly one is accepted', async () => {
    const runId = await runtime.start(form)
    await runtime.wait(runId, (run) => run.status === 'paused')
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        answer(runId, { type: 'collect_inputs', data: { n } }).then(() => n, codeOf),
      ),
    )
    const accepted = outcomes.filter((outcome) => typeof outcome === 'number')
    expect(accepted).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome === 'RUN_NOT_PAUSED')).toHaveLength(19)
    expect((await runtime.wait(runId)).result).toEqual({ n: accepted[0] })
  })

  test('I4: a resume sent the moment the pause appears is never lost', async () => {
    // A resume is sent about every millisecond, so each round hits that moment.
    const count = rounds(60, 1_000)
    const lanes = 10
    const once = async (n: number) => {
      const runId = await runtime.start(form)
      for (;;) {
        const accepted = await answer(runId, { type: 'collect_inputs', data: { n } }).then(
          () => true,
          (err: unknown) => {
            if (codeOf(err) !== 'RUN_NOT_PAUSED') throw err
            return false
          },
        )
        if (accepted) break
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
      const ended = await runtime.wait(runId)
      expect(ended.result).toEqual({ n })
      expect(ended.stepExecutionHistory.map((step) => step.stepId)).toEqual(['ask', 'end'])
    }
    await Promise.all(
      Array.from({ length: lanes }, async (_, lane) => {
        for (let n = lane; n < count; n += lanes) await once(n)
      }),
    )
  })

  test('I8: after the last answer is recorded, the run’s end never changes', async () => {
    const runId = await runtime.start(form)
    await runtime.wait(runId, (run) => run.status === 'paused')
    await answer(runId, { type: 'collect_inputs', data: { n: 3 } })
    const ended = await runtime.wait(runId)
    expect(await answer(runId, { type: 'collect_inputs', data: { n: 4 } }).catch(codeOf)).toBe('RUN_NOT_PAUSED')
    expect(await runtime.status(runId)).toEqual(ended)
  })
})
