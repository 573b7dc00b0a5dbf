import { afterAll, beforeAll, expect, test } from 'vitest'
import { listAudit } from '@/server/audit-log/list'
import type { JsonObject } from '@/server/definition/json'
import { startRun } from '@/server/runs/start'
import { WhatIfAnswer } from '@/server/runs/what-if/answers'
import type { WhatIf } from '@/server/runs/what-if/schema'
import { whatIf } from '@/server/runs/what-if/what-if'
import { backtests, inARow, signedIn } from '../replay/backtests'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

// How a run would go with changed values. Nothing is executed.

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

const { published, ran, changed } = backtests(() => runtime)
const never = new AbortController().signal
const editor = () => signedIn(runtime.ctx, 'editor')
const at = (stepId: string, branch = 'main') => ({ branch, stepId, visit: 1 })

async function tried(runId: string, body: WhatIf = {}, ctx = editor()) {
  const found = await whatIf(ctx, { runId, body }, never)
  // What it says of itself in the reference.
  expect(WhatIfAnswer.parse(found)).toEqual(JSON.parse(JSON.stringify(found)))
  return found
}

type Found = Awaited<ReturnType<typeof tried>>
const states = ({ other }: Found) => other.visits.map(({ place: { stepId }, state }) => `${stepId} ${state}`)

const approve = {
  id: 'approve',
  type: 'request-user-action',
  actions: [
    { id: 'yes', label: 'Yes' },
    { id: 'no', label: 'No' },
  ],
}
const pay = { id: 'pay', type: 'test-effect', body: { amount: '${amount}' }, saveAs: 'paid' }
const limit = { id: 'limit', type: 'condition', when: '${paid.amount} < 100' }
const small = { id: 'small', type: 'end-flow', output: { small: true } }
const large = { id: 'large', type: 'end-flow', output: { small: false, amount: '${amount}' } }
const refuse = { id: 'refuse', type: 'end-flow', output: { refused: true } }
const payment = {
  payload: { amount: { type: 'number' } },
  steps: [approve, pay, limit, small, large, refuse],
  edges: [
    { from: 'approve', to: 'pay', on: 'yes' },
    { from: 'approve', to: 'refuse', on: 'no' },
    { from: 'pay', to: 'limit' },
    { from: 'limit', to: 'small', on: 'true' },
    { from: 'limit', to: 'large', on: 'false' },
  ],
}
const yes = { type: 'request_user_action', actionId: 'yes' }
const says = (stepId: string, came: JsonObject): WhatIf => ({
  changes: { came: [{ at: { stepId }, came: came as never }] },
})

test('without changes, a run goes the way that it went', async () => {
  const id = await published(payment)
  const runId = await ran(id, { amount: 50 }, yes)
  const found = await tried(runId)
  expect(found).toMatchObject({
    runId,
    workflowId: id,
    runVersion: 1,
    version: 1,
    verdict: { is: 'same' },
    unknown: [],
  })
  expect(states(found)).toEqual(['approve', 'pay', 'limit', 'small'].map((step) => `${step} as it was`))
  expect(found.real.end).toEqual({ result: { small: true } })
  expect(found.other.end).toEqual(found.real.end)
  expect(found.other.visits[0]?.signal).toMatchObject({ type: 'request_user_action' })
  expect(found.real.visits[1]?.asked).toEqual(found.other.visits[1]?.asked)
})

test('another answer, another result of a call, and another value each lead elsewhere', async () => {
  const runId = await ran(await published(payment), { amount: 50 }, yes)
  const answered = await tried(runId, says('approve', { answer: { actionId: 'no' } }))
  expect(answered.verdict).toMatchObject({
    is: 'way',
    at: at('approve'),
    calls: { gone: ['pay'], new: [], changed: [] },
  })
  expect(answered.other.end).toEqual({ result: { refused: true } })
  expect(states(answered)).toEqual(['approve changed', 'refuse new'])

  const gave = await tried(runId, says('pay', { output: { amount: 500 } }))
  expect(gave.verdict).toMatchObject({
    is: 'way',
    at: at('limit'),
    calls: { gone: [], new: [], changed: [] },
    assumed: [],
  })
  expect(states(gave)).toEqual(['approve as it was', 'pay changed', 'limit as it was', 'large new'])

  const fails = await tried(runId, says('pay', { failed: { code: 'NO_FUNDS', message: 'Empty' } }))
  expect(fails.verdict).toMatchObject({ is: 'fails', at: 'pay', code: 'NO_FUNDS' })

  const edited = await tried(runId, { changes: { data: [{ before: { stepId: 'pay' }, fields: { amount: 70 } }] } })
  expect(edited.verdict).toMatchObject({
    calls: { changed: ['pay'] },
    assumed: [{ place: at('pay'), why: 'other arguments' }],
  })
  expect(edited.other.visits[1]).toMatchObject({ state: 'changed', asked: { body: { amount: 70 } } })

  const started = await tried(runId, { changes: { input: { amount: 80 } } })
  expect(states(started)).toEqual(['approve as it was', 'pay assumed', 'limit as it was', 'small as it was'])
  expect((await tried(runId, { changes: { input: { amount: 'much' } } })).verdict).toMatchObject({
    ...{ is: 'fails', at: null, code: 'INVALID_INPUT' },
  })
})

test('what nobody has said is asked for, and can be given', async () => {
  const id = await published(payment)
  await changed(id, {
    steps: [
      approve,
      pay,
      { ...limit, when: '${more.limit} < 1' },
      small,
      large,
      refuse,
      { id: 'more', type: 'test-effect', body: {}, saveAs: 'more' },
    ],
    edges: payment.edges
      .map((edge) => (edge.from === 'pay' ? { from: 'pay', to: 'more' } : edge))
      .concat({ from: 'more', to: 'limit' }),
  })
  const runId = await ran(id, { amount: 50 }, yes)
  const found = await tried(runId, { version: 'latest' })
  expect(found).toMatchObject({
    version: 2,
    verdict: { is: 'untold', needs: { why: 'never called', place: at('more') } },
  })
  expect(found.other.end).toEqual({ needs: { why: 'never called', place: at('more') } })
  expect(found.other.visits[2]).toMatchObject({ state: 'unknown', came: { output: { $unknown: 0 } } })
  expect(found.unknown).toEqual([{ why: 'never called', place: at('more') }])
  const given = await tried(runId, { version: 2, ...says('more', { output: { limit: 0 } }) })
  expect(given.verdict).toMatchObject({ is: 'same', calls: { new: ['more'], gone: [], changed: [] } })
})

test('a run that waits goes on with an answer that a person tries, and stays as it is', async () => {
  const { runId } = await startRun(runtime.ctx, { workflowId: await published(payment), body: { amount: 50 } as never })
  await runtime.wait(runId, ({ status }) => status === 'paused', 10_000)
  const open = await tried(runId)
  expect(open.other.end).toEqual({ needs: { why: 'open', place: at('approve') } })
  expect(open.other.visits).toMatchObject([{ state: 'unknown', signal: { actions: [{ id: 'yes' }, { id: 'no' }] } }])
  const answered = await tried(runId, says('approve', { answer: { actionId: 'no' } }))
  expect(answered.other.end).toEqual({ result: { refused: true } })
  const misfit = await tried(runId, says('approve', { answer: { actionId: 'perhaps' } }))
  expect(misfit.other.end).toMatchObject({ needs: { why: 'answer', misfit: { action: 'perhaps' } } })
  expect((await runtime.wait(runId, ({ status }) => status === 'paused', 10_000)).status).toBe('paused')
})

test('changes in a branch name it as statuses do', async () => {
  const each = { id: 'each', type: 'for-each', items: '${list}' }
  const call = { id: 'call', type: 'test-effect', body: { n: '${item}' }, saveAs: 'got' }
  const id = await published({
    payload: { list: { type: 'array' } },
    steps: [each, call, { id: 'end', type: 'end-flow', output: { all: '${each}' } }],
    edges: [
      { from: 'each', to: 'call', on: 'each' },
      { from: 'each', to: 'end', on: 'done' },
    ],
  })
  const runId = await ran(id, { list: [1, 2] })
  const branch = 'each#1/1'
  const failed = { failed: { code: 'NO', message: 'No' } }
  const found = await tried(runId, { changes: { came: [{ at: { branch, stepId: 'call' }, came: failed }] } })
  expect(found.other.visits.find(({ state }) => state === 'changed')?.place).toEqual(at('call', branch))
  expect(found.verdict.is).not.toBe('same')
})

test('refuses what it cannot follow, and says why', async () => {
  const id = await published(payment)
  const runId = await ran(id, { amount: 50 }, yes)
  const code = (runId: string, body: object, ctx = editor()) =>
    whatIf(ctx, { runId, body }, never).then(
      () => 'none',
      ({ code }: { code: string }) => code,
    )
  expect(await code('run_unknown', {})).toBe('RUN_NOT_FOUND')
  expect(await code(runId, { version: 9 })).toBe('WORKFLOW_NOT_FOUND')
  expect(await code(runId, says('gone', { output: 1 }))).toBe('INVALID_INPUT')
  expect(await code(runId, { changes: { data: [{ before: { stepId: 'gone' }, fields: {} }] } })).toBe('INVALID_INPUT')
  expect(await code(runId, says('pay', { output: 'x'.repeat(65 * 1024) }))).toBe('INVALID_INPUT')
  expect(await code(runId, { changes: { came: 1 } })).toBe('INVALID_INPUT')
  expect(await code(runId, { reveal: true })).toBe('FORBIDDEN')
  await changed(id, { steps: [approve, { id: 'pay', type: 'no-such-type' }], edges: [] })
  expect(await code(runId, { version: 'latest' })).toBe('VALIDATION_FAILED')
  expect(await code(runId, {})).toBe('none')
  const whole = await published({ ...inARow(pay, small), payload: payment.payload })
  const body = { data: { amount: 1 } } as never
  const part = await startRun(runtime.ctx, { workflowId: whole, body, part: { only: 'pay' } })
  await runtime.wait(part.runId, undefined, 10_000)
  expect(await code(part.runId, {})).toBe('INVALID_INPUT')
})

test('a run of twenty steps costs less than 100 ms of the processor’s time', async () => {
  const steps = Array.from({ length: 20 }, (_, n) => ({
    id: `s${n}`,
    type: 'test-effect',
    body: { n },
    saveAs: `r${n}`,
  }))
  const runId = await ran(await published(inARow(...steps)))
  const times: number[] = []
  for (let n = 0; n < 15; n++) {
    const began = process.cpuUsage()
    await tried(runId, says('s5', { output: { n } }))
    const { user, system } = process.cpuUsage(began)
    times.push((user + system) / 1_000)
  }
  expect(times.toSorted((a, b) => a - b)[7]).toBeLessThan(100)
})

const secretRun = {
  payload: { iban: { type: 'string', sensitive: true }, city: { type: 'string' } },
  steps: [
    { id: 'german', type: 'condition', when: "startsWith(${iban}, 'DE')" },
    { id: 'call', type: 'test-effect', body: { to: '${iban}', city: '${city}' }, saveAs: 'paid' },
    { id: 'same', type: 'condition', when: '${iban} == ${city}' },
    { id: 'again', type: 'condition', when: '${iban} == ${paid.to}' },
    { id: 'end', type: 'end-flow', output: { iban: '${iban}', city: '${city}' } },
  ],
  edges: [
    ...['true', 'false'].map((on) => ({ from: 'german', to: 'call', on })),
    { from: 'call', to: 'same' },
    ...['true', 'false'].map((on) => ({ from: 'same', to: 'again', on })),
    ...['true', 'false'].map((on) => ({ from: 'again', to: 'end', on })),
  ],
}

/** Changes that try to find a hidden value out. */
const guesses: [string, WhatIf['changes']][] = [
  ['nothing', {}],
  ['another field beside it', { input: { city: 'DE02 1203 0000' } }],
  ['another field later', { data: [{ before: { stepId: 'same' }, fields: { city: 'DE02 1203 0000' } }] }],
  ['what a call gave', { came: [{ at: { stepId: 'call' }, came: { output: { to: 'DE02 1203 0000' } } }] }],
  [
    'a failure that names it',
    { came: [{ at: { stepId: 'call' }, came: { failed: { code: 'X', message: 'DE02 1203 0000' } } }] },
  ],
  ['the hidden field itself', { input: { iban: 'DE02 1203 0000' } }],
  ['its stars', { input: { iban: '***' } }],
]

test.each(guesses)('two runs that differ in a hidden field get equal answers: %s', async (_, changes) => {
  const id = await published(secretRun)
  const answers: unknown[] = []
  for (const iban of ['DE02 1203 0000', 'DE61 1904 3002']) {
    const runId = await ran(id, { iban, city: 'Bonn' })
    const { runId: _runId, ...found } = await tried(runId, { changes })
    const typed = JSON.stringify(changes)
    if (!typed.includes(iban)) expect(JSON.stringify(found)).not.toContain(iban)
    answers.push(JSON.parse(JSON.stringify(found)))
  }
  expect(answers[0]).toEqual(answers[1])
})

test('a value that is tried on a hidden field decides, and one beside it decides nothing', async () => {
  const runId = await ran(await published(secretRun), { iban: 'DE02 1203 0000', city: 'Bonn' })
  expect((await tried(runId)).verdict.is).toBe('same')
  const beside = await tried(runId, { changes: { input: { city: 'Rome' } } })
  expect(beside.verdict).toMatchObject({ is: 'untold', needs: { why: 'hidden' } })
  const typed = await tried(runId, { changes: { input: { iban: 'AT61' } } })
  expect(typed.verdict).toMatchObject({ is: 'way', at: at('german') })
})

test('only who may reveal values may use them, and the audit log says so', async () => {
  const runId = await ran(await published(secretRun), { iban: 'DE02 1203 0000', city: 'Bonn' })
  const found = await tried(
    runId,
    { reveal: true, changes: { input: { city: 'Rome' } } },
    signedIn(runtime.ctx, 'admin'),
  )
  expect(JSON.stringify(found.real)).toContain('DE02 1203 0000')
  const { entries } = await listAudit(runtime.ctx, { action: 'run.triedOut' })
  expect(entries).toMatchObject([{ thing: { id: runId }, details: { version: 1, hidden: true } }])
})
