import { createHash } from 'node:crypto'
import { Inngest, type InngestFunction, NonRetriableError, RetryAfterError } from 'inngest'
import { describe, expect, test } from 'vitest'
import { buildCall, type CallState, classify } from '@/inngest/engine/call'
import type { HandlerAnswer } from '@/inngest/engine/index'
import { parseRegistration } from '@/inngest/engine/registry'
import { handlerOf } from './node'

/*
 * The wire protocol of the installed SDK, one row per situation: when an SDK upgrade changes the protocol, this fails
 * first. Nothing here uses the database; the test itself answers the SDK's requests.
 */
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const sha1 = (text: string) => createHash('sha1').update(text).digest('hex')

type Body = Parameters<Inngest['createFunction']>[1]
interface Request {
  path: string
  headers: Headers
  body: Record<string, unknown>
}

function sdk(body: Body, options: Record<string, unknown> = {}, statuses: number[] = []) {
  const requests: Request[] = []
  const client = new Inngest({
    id: 'app',
    isDev: true,
    baseUrl: 'http://embedded.invalid',
    aiMetadata: false,
    logger: silent,
    internalLogger: silent,
    fetch: async (input, init) => {
      const { pathname } = new URL(String(input))
      requests.push({ path: pathname, headers: new Headers(init?.headers), body: JSON.parse(String(init?.body)) })
      return new Response(JSON.stringify({ ids: ['id'], status: 200 }), { status: statuses.shift() ?? 200 })
    },
  })
  const functions: InngestFunction.Any[] = [
    client.createFunction({ id: 'f', retries: 3, triggers: [{ event: 'a/b' }], ...options } as never, body),
  ]
  const handler = handlerOf(client, functions)
  const state: CallState = {
    runId: 'run',
    functionId: 'app-f',
    stepId: undefined,
    event: JSON.stringify({ id: '1', name: 'a/b', data: { n: 1 }, ts: 1 }),
    memo: new Map(),
    attempt: 0,
    maxAttempts: 4,
    generation: '7',
    jobId: 'job',
    planOnly: false,
  }
  const ask = (change: Partial<CallState> = {}): Promise<HandlerAnswer> =>
    handler(buildCall({ ...state, ...change }, 'http://embedded.invalid/api/inngest', undefined, 0))
  return { ask, requests, handler }
}

const ops = (answer: HandlerAnswer): Record<string, unknown>[] => JSON.parse(answer.body)

describe('answers of the SDK', () => {
  test('always contain the SDK, the request version and whether they were handled', async () => {
    const answer = await sdk(async () => 1).ask()
    expect(answer.headers).toMatchObject({
      'x-inngest-sdk': 'inngest-js:v4.24.0',
      'x-inngest-req-version': '2',
      'x-inngest-sdk-handled': 'true',
    })
  })

  test('a run that ends: 206 RunComplete with checkpoints, 200 without', async () => {
    const answer = await sdk(async () => ({ a: 1 })).ask()
    expect(answer.status).toBe(206)
    expect(ops(answer)).toMatchObject([{ id: sha1('complete'), op: 'RunComplete', data: { a: 1 } }])
    const plain = await sdk(async () => undefined, { checkpointing: false }).ask()
    expect(plain).toMatchObject({ status: 200, body: 'null' })
  })

  test('a single step: 206 StepRun; ids are the SHA-1 of the name and its count', async () => {
    const body: Body = async ({ step }) => [await step.run('a', () => 1), await step.run('a', (n: number) => n, 21)]
    const { ask } = sdk(body, { checkpointing: false })
    expect(ops(await ask())).toMatchObject([
      { id: sha1('a'), op: 'StepRun', name: 'a', data: 1, userland: { id: 'a' } },
    ])
    const second = await ask({ memo: new Map([[sha1('a'), '{"data":1}']]) })
    expect(ops(second)).toMatchObject([{ id: sha1('a:1'), op: 'StepRun', data: 21, opts: { input: [21] } }])
  })

  test('several new steps: all reported, none executed; a planned step runs when it is requested', async () => {
    let ran = 0
    const { ask } = sdk(async ({ step }) => Promise.all([step.run('a', () => ++ran), step.sleep('b', '2m')]))
    const answer = await ask()
    expect(ops(answer)).toMatchObject([
      { op: 'StepPlanned', id: sha1('a') },
      { op: 'Sleep', id: sha1('b'), name: '2m', opts: {} },
    ])
    expect(ran).toBe(0)
    expect(ops(await ask({ stepId: sha1('a'), planOnly: true }))).toMatchObject([{ op: 'StepRun', data: 1 }])
  })

  test.each<[string, Body, Record<string, unknown>]>([
    [
      'sleepUntil',
      async ({ step }) => step.sleepUntil('s', new Date(Date.UTC(2030, 0, 1))),
      { op: 'Sleep', name: '2030-01-01T00:00:00.000Z' },
    ],
    [
      'waitForEvent',
      async ({ step }) => step.waitForEvent('w', { event: 'x/y', timeout: '1w', match: 'data.n' }),
      { op: 'WaitForEvent', name: 'x/y', opts: { timeout: '1w', if: 'event.data.n == async.data.n' } },
    ],
    [
      'waitForSignal',
      async ({ step }) => step.waitForSignal('w', { signal: 's', timeout: '1h', onConflict: 'replace' }),
      { op: 'WaitForSignal', opts: { signal: 's', timeout: '1h', conflict: 'replace' } },
    ],
  ])('%s', async (_, body, expected) => {
    expect(ops(await sdk(body).ask())).toMatchObject([expected])
  })

  test('invoke names its function with the app', async () => {
    const other = new Inngest({ id: 'app', isDev: true }).createFunction({ id: 'g', triggers: [] }, async () => 1)
    const { ask } = sdk(async ({ step }) => step.invoke('i', { function: other, data: { n: 1 }, timeout: '1h' }))
    expect(ops(await ask())).toMatchObject([
      { op: 'InvokeFunction', opts: { function_id: 'app-g', payload: { data: { n: 1 } }, timeout: '1h' } },
    ])
  })

  test('a failing step: StepError while attempts are left, StepFailed with the last', async () => {
    const { ask } = sdk(async ({ step }) => step.run('a', () => Promise.reject(new Error('oh'))))
    const first = await ask()
    expect(first).toMatchObject({ status: 206, headers: { 'x-inngest-no-retry': 'false' } })
    expect(ops(first)).toMatchObject([{ op: 'StepError', error: { name: 'Error', message: 'oh', __serialized: true } }])
    const last = await ask({ attempt: 3 })
    expect(last.headers).toMatchObject({ 'x-inngest-no-retry': 'true' })
    expect(ops(last)).toMatchObject([{ op: 'StepFailed', error: { message: 'oh' } }])
  })

  test('RetryAfterError and NonRetriableError of a step', async () => {
    const later = await sdk(async ({ step }) =>
      step.run('a', () => Promise.reject(new RetryAfterError('later', '30s'))),
    ).ask()
    expect(later.headers).toMatchObject({ 'retry-after': '30' })
    expect(classify(later, 0)).toMatchObject({ kind: 'ops', retryAfterMs: 30_000, final: false })
    const never = await sdk(async ({ step }) => step.run('a', () => Promise.reject(new NonRetriableError('no')))).ask()
    expect(ops(never)).toMatchObject([{ op: 'StepFailed' }])
  })

  test('an error outside steps: 500, or 400 when it is final', async () => {
    const fails = await sdk(async () => Promise.reject(new Error('oh'))).ask()
    expect(fails).toMatchObject({ status: 500, headers: { 'x-inngest-no-retry': 'false' } })
    expect(classify(fails, 0)).toMatchObject({ kind: 'failed', final: false, error: { message: 'oh' } })
    const final = await sdk(async () => Promise.reject(new NonRetriableError('no'))).ask()
    expect(final).toMatchObject({ status: 400, headers: { 'x-inngest-no-retry': 'true' } })
    expect(classify(final, 0)).toMatchObject({ kind: 'failed', final: true })
  })

  test('a stored error is thrown where its step is awaited', async () => {
    const memo = new Map([[sha1('a'), JSON.stringify({ error: { name: 'Error', message: 'kept', stack: '' } })]])
    const { ask } = sdk(async ({ step }) => step.run('a', () => 1))
    expect(await ask({ memo })).toMatchObject({ status: 400, headers: { 'x-inngest-no-retry': 'true' } })
  })

  test('a finished wait returns its event, or null', async () => {
    const body: Body = async ({ step }) => step.waitForEvent('w', { event: 'x/y', timeout: '1h' })
    const event = { id: '2', name: 'x/y', data: { a: 1 }, ts: 2 }
    const found = await sdk(body).ask({ memo: new Map([[sha1('w'), JSON.stringify({ data: event })]]) })
    expect(ops(found)).toMatchObject([{ op: 'RunComplete', data: event }])
    const none = await sdk(body).ask({ memo: new Map([[sha1('w'), 'null']]) })
    expect(ops(none)).toMatchObject([{ op: 'RunComplete', data: null }])
  })

  test('an unknown function is an error, not an end', async () => {
    const answer = await sdk(async () => 1).ask({ functionId: 'app-gone' })
    expect(classify(answer, 0)).toMatchObject({ kind: 'failed', final: false })
  })

  test('an answer that is not from the SDK is never an end', () => {
    expect(classify({ status: 200, headers: {}, body: '"hello"' }, 0)).toMatchObject({ kind: 'failed', final: false })
    expect(classify({ status: 502, headers: {}, body: '<html>' }, 0)).toMatchObject({ kind: 'failed', final: false })
  })
})

describe('signed calls', () => {
  const client = new Inngest({
    id: 'app',
    isDev: false,
    signingKey: `signkey-test-${'ab'.repeat(32)}`,
    eventKey: 'key',
  })
  const f = client.createFunction(
    { id: 'f', triggers: [{ event: 'a/b' }], checkpointing: false },
    async ({ event }) => {
      return event.data
    },
  )
  const handler = handlerOf(client, [f], false)
  const state: CallState = {
    runId: 'run',
    functionId: 'app-f',
    stepId: undefined,
    event: JSON.stringify({ name: 'a/b', ts: 1, id: '1', data: { z: 1, a: ['é', '\u2028', 1e21, 0.1], 'b"': null } }),
    memo: new Map(),
    attempt: 0,
    maxAttempts: 4,
    generation: '7',
    jobId: 'job',
    planOnly: false,
  }
  const ask = (key: string, at = Date.now()) =>
    handler(buildCall(state, 'http://embedded.invalid/api/inngest', key, at))

  test('pass the SDK’s check in cloud mode', async () => {
    expect(await ask(`signkey-test-${'ab'.repeat(32)}`)).toMatchObject({ status: 200 })
  })

  test('fail with another key, or when they are old', async () => {
    expect(await ask(`signkey-test-${'cd'.repeat(32)}`)).toMatchObject({ status: 401 })
    expect(await ask(`signkey-test-${'ab'.repeat(32)}`, Date.now() - 600_000)).toMatchObject({ status: 401 })
  })
})

describe('checkpoints of the SDK', () => {
  const three: Body = async ({ step }) => {
    for (const name of ['a', 'b', 'c']) await step.run(name, () => name)
    return 'end'
  }

  test('every step is checkpointed before the next starts, in one call, with its claim', async () => {
    const { ask, requests } = sdk(three)
    expect(ops(await ask()).at(-1)).toMatchObject({ op: 'RunComplete', data: 'end' })
    expect(requests.map(({ path }) => path)).toEqual(Array(3).fill('/v1/checkpoint/run/async'))
    expect(requests[0]?.body).toMatchObject({
      run_id: 'run',
      fn_id: 'app-f',
      qi_id: '7:job',
      steps: [{ id: sha1('a'), op: 'StepRun', data: 'a' }],
    })
  })

  test('a refusal with 409 ends the call at once', async () => {
    const { ask, requests } = sdk(three, {}, [200, 409])
    const answer = await ask()
    expect(classify(answer, 0)).toEqual({ kind: 'stale' })
    expect(requests).toHaveLength(2)
  })

  test('a failure is retried in the same call', async () => {
    const { ask, requests } = sdk(three, {}, [500, 500])
    expect(ops(await ask()).at(-1)).toMatchObject({ op: 'RunComplete' })
    expect(requests).toHaveLength(5)
  })

  test('a permanent refusal returns the step with the answer, and no next step runs', async () => {
    const { ask } = sdk(three, {}, Array(20).fill(413))
    expect(ops(await ask())).toMatchObject([{ op: 'StepRun', id: sha1('a'), data: 'a' }])
  })

  test('steps buffered by the function arrive with its end', async () => {
    const { ask, requests } = sdk(three, { checkpointing: { bufferedSteps: 2 } })
    expect(ops(await ask())).toMatchObject([
      { op: 'StepRun', data: 'c' },
      { op: 'RunComplete', data: 'end' },
    ])
    expect(requests).toHaveLength(1)
  })

  test('while steps are pending the SDK plans and does not checkpoint', async () => {
    const { ask, requests } = sdk(three)
    expect(ops(await ask({ planOnly: true }))).toMatchObject([{ op: 'StepPlanned', id: sha1('a') }])
    expect(requests).toHaveLength(0)
  })

  test('a call with a later attempt returns its step instead of checkpointing it', async () => {
    const { ask, requests } = sdk(three)
    expect(ops(await ask({ attempt: 1 }))).toMatchObject([{ op: 'StepRun', id: sha1('a') }])
    expect(requests).toHaveLength(0)
  })
})

describe('the in-band sync', () => {
  test('reports retries, failure functions, conditions and limits in the form that the registry reads', async () => {
    const { handler } = sdk(async () => 1, {
      triggers: [{ event: 'a/b', if: 'event.data.n == 1' }, { cron: '0 * * * *' }],
      concurrency: { limit: 2, key: 'event.data.k' },
      idempotency: 'event.data.id',
      timeouts: { start: '1m', finish: '2h' },
      cancelOn: [{ event: 'a/c', match: 'data.n', timeout: '1h' }],
      onFailure: async () => undefined,
    })
    const answer = await handler({
      method: 'PUT',
      url: 'http://embedded.invalid/api/inngest',
      headers: { 'x-inngest-sync-kind': 'in_band' },
      body: { url: 'http://embedded.invalid/api/inngest' },
    })
    expect(answer.status).toBe(200)
    const specs = parseRegistration(JSON.parse(answer.body))
    expect([...specs.keys()]).toEqual(['app-f', 'app-f-failure'])
    expect(specs.get('app-f')).toMatchObject({
      maxAttempts: 4,
      triggers: [{ event: 'a/b', condition: [{ op: '==' }] }],
      crons: [{ source: '0 * * * *' }],
      concurrency: { limit: 2, key: { path: ['event', 'data', 'k'] } },
      idempotency: { path: ['event', 'data', 'id'] },
      startWithinMs: 60_000,
      finishWithinMs: 7_200_000,
      cancels: [{ event: 'a/c', forMs: 3_600_000 }],
    })
    expect(specs.get('app-f-failure')).toMatchObject({
      maxAttempts: 2,
      triggers: [{ event: 'inngest/function.failed' }],
    })
  })
})
