import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ServiceContext } from '@/server/context'
import type { JsonObject } from '@/server/definition/json'
import { rerunRun } from '@/server/runs/rerun'
import { retryRun } from '@/server/runs/retry'
import { retryRuns } from '@/server/runs/retry-many'
import { startRun } from '@/server/runs/start'
import { countBulk, runBulk } from '@/server/views/runs/bulk'
import { createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { refusal } from '../workflows/support'

// A retry or rerun on another version begins only where that version's types hold for its data.

let database: FreshDatabase
let effects: EffectServer
let runtime: TestRuntime

beforeAll(async () => {
  database = await freshDatabase()
  effects = await startEffects(({ path }) =>
    path === '/order' ? { body: { total: 40, currency: 'EUR' } } : { body: { done: path.slice(1) } },
  )
  runtime = await startTestRuntime(database.url)
})

afterAll(async () => {
  await runtime?.stop()
  await effects?.stop()
  await database?.close()
})

const WAIT = 10_000
const ends = (runId: string) => runtime.wait(runId, undefined, WAIT)
const callsOf = (runId: string) =>
  effects.seen.filter(({ key }) => key.startsWith(runId)).map(({ path }) => path.slice(1))
const effect = (id: string, body: JsonObject = {}) => ({
  id,
  type: 'test-effect',
  url: `${effects.url}${id}`,
  body,
  saveAs: id,
})
const compute = (id: string, fields: Record<string, string>) => ({ id, type: 'set-data', compute: fields })
const end = (output: JsonObject) => ({ id: 'end', type: 'end-flow', output })

interface Line {
  steps: { id: string }[]
  payload?: object
  [more: string]: unknown
}
const line = ({ steps, ...more }: Line) => ({
  payload: { n: { type: 'number' } },
  initialStep: steps[0]?.id,
  steps,
  edges: steps.slice(1).map(({ id }, at) => ({ from: steps[at]?.id ?? '', to: id })),
  ...more,
})

/** A field that the order never had. */
const broken = () =>
  line({ steps: [effect('order'), compute('sum', { sum: '${order.amount} * 2' }), end({ sum: '${sum}' })] })
const mended = () =>
  line({ steps: [effect('order'), compute('sum', { sum: '${order.total} * 2' }), end({ sum: '${sum}' })] })

async function published(definition: object): Promise<string> {
  const { id } = await createWorkflow(runtime.ctx, { name: 'Again', ...definition })
  await publishWorkflow(runtime.ctx, { id })
  return id
}

async function publishes(id: string, definition: object): Promise<void> {
  await updateWorkflow(runtime.ctx, { id, body: definition })
  await publishWorkflow(runtime.ctx, { id })
}

/** A run that ended on the first version of a workflow that has the second by now. */
async function endedOn(first: object, second: object, data: JsonObject = { n: 1 }) {
  const id = await published(first)
  const { runId } = await startRun(runtime.ctx, { workflowId: id, body: data })
  const old = await ends(runId)
  await publishes(id, second)
  return { id, old, runId }
}

const retried = async (runId: string, body: object, ctx: ServiceContext = runtime.ctx) =>
  ends((await retryRun(ctx, { runId, body })).runId)
const misfits = async (call: Promise<unknown>) => {
  const { code, details } = await refusal(call)
  expect(code).toBe('VERSION_MISFIT')
  return details.map(({ message }) => message)
}
const countRuns = async () => (await database.sql`select count(*)::int as n from runs`)[0]?.n

describe('retry on a version', () => {
  it('continues with the steps of that version and the outputs so far, and makes no completed call again', async () => {
    const { id, old, runId } = await endedOn(broken(), mended())
    expect(old).toMatchObject({ outcome: 'failed', workflowVersion: 1, error: { stepId: 'sum' } })
    const run = await retried(runId, { version: 'published' })
    expect(run).toMatchObject({ outcome: 'succeeded', workflowVersion: 2, retryOf: runId, result: { sum: 80 } })
    expect(run.stepExecutionHistory.map(({ stepId }) => stepId)).toEqual(['order', 'sum', 'end'])
    expect(callsOf(run.runId)).toEqual([])
    expect(await runtime.status(runId)).toEqual(old)
    const entries = await database.sql`
      select details from audit_entries where action = 'run.retried' and details->>'newRun' = ${run.runId}`
    expect(entries.map(({ details }) => details)).toEqual([{ newRun: run.runId, version: 2 }])
    // The run has its own version from then on.
    await publishes(id, broken())
    expect(await retried(runId, { version: 2 })).toMatchObject({ outcome: 'succeeded', workflowVersion: 2 })
    expect(await retried(runId, {})).toMatchObject({ outcome: 'failed', workflowVersion: 1 })
  })

  it('is refused where the data does not fit, with each reason and without a value, and writes nothing', async () => {
    const second = line({
      steps: [
        compute('rate', { rate: '${n} / 100', label: '"secret"' }),
        effect('order'),
        compute('sum', { sum: '${order.total} * ${rate}', text: 'upper(${label})' }),
        end({ sum: '${sum}' }),
      ],
    })
    const { runId } = await endedOn(broken(), second)
    const before = await countRuns()
    expect(await misfits(retryRun(runtime.ctx, { runId, body: { version: 2 } }))).toEqual([
      'sum reads rate, which has no value.',
      'sum reads label, which has no value.',
    ])
    expect(await countRuns()).toBe(before)
    // From the step that sets it, all is there.
    const body = { version: 2, fromStepId: 'rate', repeatCalls: true }
    expect(await retried(runId, body)).toMatchObject({ result: { sum: 0.4 } })
    const typed = line({
      payload: { n: { type: 'string' } },
      steps: [compute('sum', { sum: 'upper(${n})' }), end({ sum: '${sum}' })],
    })
    const fails = line({ steps: [compute('sum', { sum: '1 / (${n} - 1)' }), end({ sum: '${sum}' })] })
    const other = await endedOn(fails, typed)
    expect(await misfits(retryRun(runtime.ctx, { runId: other.runId, body: { version: 2 } }))).toEqual([
      'sum reads n, which must be a string, but is a number.',
    ])
  })

  it('may begin at a step that only that version has, which may bypass an approval and needs the role editor', async () => {
    const second = line({
      steps: [
        effect('order'),
        compute('normal', { amount: '${order.total}' }),
        compute('sum', { sum: '${amount} * 2' }),
        end({ sum: '${sum}' }),
      ],
    })
    const { runId } = await endedOn(broken(), second)
    const operator = await runtime.as('operator')
    expect(await misfits(retryRun(operator, { runId, body: { version: 2 } }))).toHaveLength(1)
    const body = { version: 2, fromStepId: 'normal' }
    expect((await refusal(retryRun(operator, { runId, body }))).code).toBe('FORBIDDEN')
    const run = await retried(runId, body)
    expect(run).toMatchObject({ outcome: 'succeeded', result: { sum: 80 } })
    expect(callsOf(run.runId)).toEqual([])
    // A step that the run came to is for operators too.
    const again = await retried(runId, { version: 2, fromStepId: 'order' }, operator)
    expect([again.result, callsOf(again.runId)]).toEqual([{ sum: 80 }, ['order']])
  })

  it('is refused if the step is gone, or is in a branch there', async () => {
    const gone = line({ steps: [effect('order'), end({ sum: '${order.total}' })] })
    const first = await endedOn(broken(), gone)
    const message = 'The version has no step sum on its main path.'
    expect(await misfits(retryRun(runtime.ctx, { runId: first.runId, body: { version: 2 } }))).toEqual([message])
    const inBranch = {
      ...mended(),
      steps: [effect('order'), { id: 'both', type: 'parallel', branches: [{ id: 'x' }] }, compute('sum', { x: '1' })],
      edges: [
        { from: 'order', to: 'both' },
        { from: 'both', to: 'sum', on: 'x' },
      ],
    }
    const second = await endedOn(broken(), inBranch)
    expect(await misfits(retryRun(runtime.ctx, { runId: second.runId, body: { version: 2 } }))).toEqual([message])
    expect(
      await misfits(rerunRun(runtime.ctx, { runId: second.runId, body: { version: 2, fromStepId: 'sum' } })),
    ).toEqual([message])
  })

  it('counts on the visits of a step that comes after the failed one there', async () => {
    const moved = line({
      steps: [compute('sum', { sum: '${n} * 2' }), effect('order', { sum: '${sum}' }), end({ of: '${order.total}' })],
    })
    const { runId } = await endedOn(broken(), moved)
    const run = await retried(runId, { version: 2, repeatCalls: true })
    expect(run).toMatchObject({ outcome: 'succeeded', result: { of: 40 } })
    const visits = run.stepExecutionHistory.map(({ stepId, visit }) => `${stepId} ${visit ?? 1}`)
    expect(visits).toEqual(['order 1', 'sum 1', 'order 2', 'end 1'])
    expect(callsOf(run.runId)).toEqual(['order'])
  })

  it('takes only versions that were published, except of a test run', async () => {
    const { id, runId } = await endedOn(broken(), broken())
    await updateWorkflow(runtime.ctx, { id, body: mended() })
    for (const version of ['latest', 2])
      expect(await refusal(retryRun(runtime.ctx, { runId, body: { version } }))).toMatchObject({
        code: 'INVALID_INPUT',
        details: [{ path: 'version' }],
      })
    expect((await refusal(retryRun(runtime.ctx, { runId, body: { version: 9 } }))).code).toBe('WORKFLOW_NOT_FOUND')
    expect((await refusal(retryRun(runtime.ctx, { runId, body: { version: 'newest' } }))).code).toBe(
      'WORKFLOW_NOT_FOUND',
    )
    const user: ServiceContext = {
      ...runtime.ctx,
      actor: { kind: 'user', id: 'usr_1', name: 'Ada', sessionId: 'ses_1', role: 'editor' },
    }
    const test = await startRun(user, { workflowId: id, body: { n: 1 }, version: '1', test: true })
    await ends(test.runId)
    expect(await retried(test.runId, { version: 'latest' })).toMatchObject({ result: { sum: 80 } })
    const operator = await runtime.as('operator')
    expect((await refusal(retryRun(operator, { runId: test.runId, body: { version: 'latest' } }))).code).toBe(
      'FORBIDDEN',
    )
  })
})

describe('rerun on a version', () => {
  it('begins at its first step if the old input fits its START fields, with their defaults', async () => {
    const more = { n: { type: 'number' }, city: { type: 'string', default: 'Rome' } }
    const second = line({ payload: more, steps: [compute('sum', { sum: '${n} + 1' }), end({ at: '${city}' })] })
    const { id, runId } = await endedOn(broken(), second)
    const rerun = async (body: object) => ends((await rerunRun(runtime.ctx, { runId, body })).runId)
    expect(await rerun({ version: 2 })).toMatchObject({ workflowVersion: 2, result: { at: 'Rome' }, data: { n: 1 } })
    const strict = { ...more, who: { type: 'string' }, n: { type: 'string' } }
    await publishes(id, line({ payload: strict, steps: [end({})] }))
    expect(await misfits(rerunRun(runtime.ctx, { runId, body: { version: 3 } }))).toEqual([
      'n must be a string, not number',
      'who is required',
    ])
    const bad = await refusal(rerunRun(runtime.ctx, { runId, body: { version: 3, data: { n: 'a' } } }))
    expect([bad.code, bad.details.map(({ path }) => path)]).toEqual(['INVALID_INPUT', ['data.who']])
    expect(await rerun({})).toMatchObject({ workflowVersion: 1, outcome: 'failed' })
  })

  it('begins at a step with changed data that fits', async () => {
    const second = line({
      steps: [effect('order'), compute('sum', { sum: '${order.total} * ${rate}' }), end({ sum: '${sum}' })],
      payload: { n: { type: 'number' }, rate: { type: 'number' } },
    })
    const { runId } = await endedOn(broken(), second)
    const body = { version: 2, fromStepId: 'sum' }
    expect(await misfits(rerunRun(runtime.ctx, { runId, body }))).toEqual(['sum reads rate, which has no value.'])
    const again = await rerunRun(runtime.ctx, { runId, body: { ...body, data: { rate: 2 } } })
    expect(await ends(again.runId)).toMatchObject({ workflowVersion: 2, result: { sum: 80 } })
  })
})

describe('many runs on a version', () => {
  const started = async (id: string, n: number) => {
    const { runId } = await startRun(runtime.ctx, { workflowId: id, body: { n } })
    await ends(runId)
    return runId
  }

  it('are retried one by one, those that fit, and each once', async () => {
    const divides = line({
      steps: [effect('order'), compute('sum', { sum: '1 / (${n} - 1)' }), end({ sum: '${sum}' })],
    })
    const id = await published(divides)
    const [first, second, fine] = [await started(id, 1), await started(id, 1), await started(id, 3)]
    const other = await endedOn(broken(), broken())
    await publishes(id, mended())
    const body = { workflowId: id, runIds: [first, second, fine, other.runId, first], version: 2 }
    const { retried, refused } = await retryRuns(runtime.ctx, body)
    expect(retried.map(({ retryOf }) => retryOf)).toEqual([first, second])
    expect(refused.map(({ runId, code }) => [runId, code])).toEqual([
      [fine, 'CONFLICT'],
      [other.runId, 'RUN_NOT_FOUND'],
    ])
    for (const { runId } of retried) expect([(await ends(runId)).result, callsOf(runId)]).toEqual([{ sum: 80 }, []])
    const again = await retryRuns(runtime.ctx, body)
    expect([again.retried, again.refused.length]).toEqual([[], 4])
    expect((await refusal(retryRuns(await runtime.as('viewer'), body))).code).toBe('FORBIDDEN')
    expect((await refusal(retryRuns(await runtime.as('owner', 'ten_far'), body))).code).toBe('WORKFLOW_NOT_FOUND')
  })

  it('in bulk, are those that are named, with each reason why one does not fit', async () => {
    const id = await published(broken())
    const [first, second, third] = [await started(id, 1), await started(id, 1), await started(id, 1)]
    await publishes(id, mended())
    const at = new Date(Date.now() + 60_000).toISOString()
    const bulk = { verb: 'retry', filter: { workflowIds: [id] }, at, version: 2 }
    expect(await runBulk(runtime.ctx, { ...bulk, runIds: [first, second] })).toEqual({
      done: 2,
      refused: [],
      left: false,
    })
    expect(await countBulk(runtime.ctx, bulk)).toEqual({ count: 1, more: false })
    await publishes(id, line({ steps: [end({ n: '${n}' })] }))
    const misfits = await runBulk(runtime.ctx, { ...bulk, version: 3 })
    expect(misfits).toMatchObject({
      done: 0,
      refused: [{ runId: third, code: 'VERSION_MISFIT', details: [{ code: 'STEP_GONE' }] }],
    })
  })
})
