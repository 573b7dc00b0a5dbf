import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ServiceContext } from '@/server/context'
import type { JsonObject } from '@/server/definition/json'
import type { Role } from '@/server/roles'
import { rerunRun } from '@/server/runs/rerun'
import { retryRun } from '@/server/runs/retry'
import { startRun } from '@/server/runs/start'
import { createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { refusal } from '../workflows/support'

// A run on another version passes over no question, repeats no call, and shows no hidden field.

let database: FreshDatabase
let effects: EffectServer
let runtime: TestRuntime

beforeAll(async () => {
  database = await freshDatabase()
  effects = await startEffects(({ path, body }) =>
    path === '/pay' && (body as JsonObject).fail ? { status: 400, body: {} } : { body: { done: path.slice(1) } },
  )
  runtime = await startTestRuntime(database.url)
})

afterAll(async () => {
  await runtime?.stop()
  await effects?.stop()
  await database?.close()
})

interface Step {
  id: string
  [field: string]: unknown
}
const WAIT = 10_000
const effect = (id: string, body: JsonObject = {}): Step => {
  return { id, type: 'test-effect', url: `${effects.url}${id}`, body, saveAs: id }
}
const end = { id: 'end', type: 'end-flow', output: {} }
const approve = { id: 'approve', type: 'request-user-action', title: 'Pay?', actions: [{ id: 'yes', label: 'Yes' }] }
const line = (...steps: Step[]) => ({
  payload: { n: { type: 'number' } },
  initialStep: steps[0]?.id,
  steps,
  edges: steps.slice(1).map(({ id }, at) => ({ from: steps[at]?.id ?? '', to: id })),
})
/** The approval only for large amounts. */
const sometimes = (...more: Step[]) => {
  const large = { id: 'large', type: 'condition', when: '${n} > 100' }
  const all = line(effect('order'), large, approve, ...more, end)
  const edges = all.edges.map((edge) => (edge.from === 'large' ? { ...edge, on: 'true' } : edge))
  return { ...all, edges: [...edges, { from: 'large', to: more[0]?.id ?? '', on: 'false' }] }
}

async function published(definition: object): Promise<string> {
  const { id } = await createWorkflow(runtime.ctx, { name: 'Passes', ...definition })
  await publishWorkflow(runtime.ctx, { id })
  return id
}

async function endedOn(first: object, second: object, data: JsonObject = { n: 1 }) {
  const id = await published(first)
  const { runId } = await startRun(runtime.ctx, { workflowId: id, body: data })
  await runtime.wait(runId, undefined, WAIT)
  await updateWorkflow(runtime.ctx, { id, body: second })
  await publishWorkflow(runtime.ctx, { id })
  return { id, runId }
}

const user = (role: Role): ServiceContext => ({
  ...runtime.ctx,
  actor: { kind: 'user', id: `usr_${role}`, name: 'Ada', sessionId: 'ses_1', role },
})
const misfits = async (call: Promise<unknown>) => {
  const { code, details } = await refusal(call)
  return [code, ...details.map((detail) => `${detail.code} ${detail.stepId ?? detail.name}`)]
}
const ends = async (call: Promise<{ runId: string }>) => {
  const run = await runtime.wait((await call).runId, undefined, WAIT)
  return [run.outcome, run.stepExecutionHistory.map(({ stepId }) => stepId).join(' ')]
}

describe('a question of the other version before the step', () => {
  const unpaid = () => line(effect('order'), effect('pay', { fail: true }), end)
  const skips = ['VERSION_MISFIT', 'APPROVAL_SKIPPED approve']

  it('is passed over by editors alone, in retries and reruns', async () => {
    const { runId } = await endedOn(unpaid(), line(effect('order'), approve, effect('pay'), end))
    const operator = await runtime.as('operator')
    expect(await misfits(retryRun(operator, { runId, body: { version: 2 } }))).toEqual(skips)
    const body = { version: 2, fromStepId: 'pay' }
    expect(await misfits(retryRun(operator, { runId, body }))).toEqual(skips)
    expect(await misfits(rerunRun(operator, { runId, body }))).toEqual(skips)
    expect(await ends(retryRun(await runtime.as('editor'), { runId, body: { version: 2 } }))).toEqual([
      'succeeded',
      'order pay end',
    ])
  })

  it('counts too if only some runs come to it, unless the old version asked it there', async () => {
    const { runId } = await endedOn(unpaid(), sometimes(effect('pay')))
    const operator = await runtime.as('operator')
    expect(await misfits(retryRun(operator, { runId, body: { version: 2 } }))).toEqual(skips)
    const known = await endedOn(sometimes(effect('pay', { fail: true })), sometimes(effect('pay')))
    expect(await ends(retryRun(operator, { runId: known.runId, body: { version: 2 } }))).toEqual([
      'succeeded',
      'order large pay end',
    ])
  })

  it('counts too in a branch before it', async () => {
    const both = { id: 'both', type: 'parallel', branches: [{ id: 'x' }] }
    const second = {
      ...line(effect('order'), both, approve, effect('pay'), end),
      edges: [
        { from: 'order', to: 'both' },
        { from: 'both', to: 'approve', on: 'x' },
        { from: 'both', to: 'pay', on: 'done' },
        { from: 'pay', to: 'end' },
      ],
    }
    const { runId } = await endedOn(unpaid(), second)
    const operator = await runtime.as('operator')
    expect(await misfits(retryRun(operator, { runId, body: { version: 2 } }))).toEqual(skips)
  })
})

describe('a completed call that comes later in the other version', () => {
  it('is made again only if the body says so', async () => {
    const sum = { id: 'sum', type: 'set-data', compute: { s: '${order.none} * 2' } }
    const ready = { id: 'sum', type: 'set-data', values: { s: 2 } }
    const { runId } = await endedOn(
      line(effect('order'), effect('charge'), sum, end),
      line(effect('order'), ready, effect('charge'), end),
    )
    const charges = () => effects.seen.filter(({ path }) => path === '/charge').length
    const refused = ['VERSION_MISFIT', 'CALL_REPEATED charge']
    expect(await misfits(retryRun(runtime.ctx, { runId, body: { version: 2 } }))).toEqual(refused)
    const body = { version: 2, fromStepId: 'sum' }
    expect(await misfits(rerunRun(runtime.ctx, { runId, body }))).toEqual(refused)
    expect(charges()).toBe(1)
    expect(await ends(retryRun(runtime.ctx, { runId, body: { version: 2, repeatCalls: true } }))).toEqual([
      'succeeded',
      'order charge sum charge end',
    ])
    expect(charges()).toBe(2)
  })
})

describe('a sensitive field that the other version does not mark', () => {
  const iban = (sensitive: boolean) => ({
    payload: { iban: { type: 'string', required: false, ...(sensitive ? { sensitive } : {}) } },
    initialStep: 'end',
    steps: [{ id: 'end', type: 'end-flow', output: { a: '${iban ?? "none"}' } }],
    edges: [],
  })
  const refused = ['VERSION_MISFIT', 'HIDDEN_FIELD iban']

  it('is not shown by a rerun there to people who see values one by one', async () => {
    const { runId, id } = await endedOn(iban(false), iban(true))
    const { runId: hidden } = await startRun(runtime.ctx, { workflowId: id, body: { iban: 'DE02 1203' } })
    await runtime.wait(hidden, undefined, WAIT)
    for (const role of ['operator', 'owner'] as const)
      expect(await misfits(rerunRun(user(role), { runId: hidden, body: { version: 1 } }))).toEqual(refused)
    // Programs get values as they are stored.
    expect((await ends(rerunRun(await runtime.as('operator'), { runId: hidden, body: { version: 1 } })))[0]).toBe(
      'succeeded',
    )
    const { runId: empty } = await startRun(runtime.ctx, { workflowId: id, body: {} })
    await runtime.wait(empty, undefined, WAIT)
    expect((await ends(rerunRun(user('operator'), { runId: empty, body: { version: 1 } })))[0]).toBe('succeeded')
    expect((await ends(rerunRun(user('operator'), { runId, body: { version: 2 } })))[0]).toBe('succeeded')
  })

  it('is not shown by a test on a draft either', async () => {
    const id = await published(iban(true))
    const test = await startRun(user('editor'), { workflowId: id, body: { iban: 'DE02 1203' }, test: true })
    await runtime.wait(test.runId, undefined, WAIT)
    await updateWorkflow(runtime.ctx, { id, body: iban(false) })
    expect(await misfits(rerunRun(user('editor'), { runId: test.runId, body: { version: 'latest' } }))).toEqual(refused)
  })
})
