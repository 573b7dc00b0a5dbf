import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, startApi } from '../support/api'
import { startEffects } from '../support/effects'

let api: Api
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

/** The documented create sample: three steps, an empty payload. */
const sample = {
  name: 'My workflow',
  description: 'Collects a number and adds one',
  initialStep: 'ask',
  steps: [
    { type: 'collect-inputs', id: 'ask', output: { amount: { type: 'number' } } },
    { type: 'call-tool', id: 'add', toolId: 'tool_add', args: { a: '${amount}', b: 1 }, saveAs: 'sum' },
    { type: 'end-flow', id: 'done', output: { sum: '${sum}' } },
  ],
  edges: [
    { from: 'ask', to: 'add' },
    { from: 'add', to: 'done' },
  ],
  payload: {},
}
const create = async (definition: object) => (await api.call('POST', '/api/workflows', definition)).body.id as string
const status = async (runId: string) => (await api.call('GET', `/api/workflow/status/${runId}`)).body
const ended = async (runId: string) => {
  await expect.poll(async () => (await status(runId)).result ?? (await status(runId)).error).not.toBeNull()
  return status(runId)
}

describe('POST /api/workflow/start/:workflowId', () => {
  test('blocks until the run has ended and returns its result', async () => {
    const { status: code, headers, body } = await api.call('POST', '/api/workflow/start/wf_hello', { name: 'Ada' })
    expect(code).toBe(200)
    expect(body).toMatchObject({
      status: 'completed',
      data: { name: 'Ada', greeting: 'Hello, Ada!' },
      result: { message: 'Hello, Ada!' },
    })
    expect(body.runId).toMatch(/^run_/)
    expect(headers.get('location')).toBe(`/api/workflow/status/${body.runId}`)
    expect(headers.get('x-workflow-version')).toBe('1')
  })

  test('a run that pauses for a person answers 202 with the pause, and continues after a resume', async () => {
    const id = await create(sample)
    const started = await api.call('POST', `/api/workflow/start/${id}`, {})
    expect(started.status).toBe(202)
    expect(started.body).toMatchObject({
      status: 'paused',
      result: null,
      pauseSignal: { type: 'collect_inputs', stepId: 'ask', fields: { amount: { type: 'number' } } },
    })
    const resumed = await api.call('POST', `/api/workflow/resume/${started.body.runId}`, {
      type: 'collect_inputs',
      data: { amount: 41 },
    })
    expect(resumed).toMatchObject({ status: 200, body: { success: true, status: 'running' } })
    expect(await ended(started.body.runId)).toMatchObject({
      status: 'completed',
      result: { sum: 42 },
      data: { amount: 41, sum: 42 },
    })
  })

  test('a run that takes longer than the caller waits answers 202 and continues', async () => {
    const effects = await startEffects(() => ({ delayMs: 1_500, body: { late: true } }))
    const id = await create({ name: 'slow', steps: [{ id: 'slow', type: 'test-effect', url: effects.url }] })
    const started = await api.call('POST', `/api/workflow/start/${id}`, {}, { headers: { prefer: 'wait=0' } })
    expect(started).toMatchObject({ status: 202, body: { status: 'running', result: null } })
    expect(await ended(started.body.runId)).toMatchObject({ status: 'completed', data: { late: true } })
    await effects.stop()
  })

  test('a caller that disconnects does not stop the run', async () => {
    const effects = await startEffects(() => ({ delayMs: 800, body: { done: true } }))
    const id = await create({ name: 'slow', steps: [{ id: 'slow', type: 'test-effect', url: effects.url }] })
    const hasty = api.call('POST', `/api/workflow/start/${id}`, {}, { signal: AbortSignal.timeout(400) })
    await expect(hasty).rejects.toThrow()
    await expect.poll(() => effects.seen.length).toBe(1)
    const [, runId] = /^(run_[^:]+):/.exec(effects.seen[0]?.key ?? '') ?? []
    expect(await ended(runId ?? '')).toMatchObject({ status: 'completed', data: { done: true } })
    await effects.stop()
  })

  test('a failed run answers 200 with the failure: the request succeeded, the run did not', async () => {
    const id = await create({ name: 'bad', steps: [{ id: 'bad', type: 'call-tool', toolId: 'tool_throws' }] })
    const { status: code, body } = await api.call('POST', `/api/workflow/start/${id}`, {})
    expect(code).toBe(200)
    expect(body).toMatchObject({
      status: 'failed',
      outcome: 'failed',
      result: null,
      error: { message: 'This tool always fails.', stepId: 'bad' },
    })
    expect(body.stepExecutionHistory).toMatchObject([
      { stepId: 'bad', status: 'failed', error: 'This tool always fails.' },
    ])
  })

  test('missing and invalid input is rejected by field, and no run is created', async () => {
    const id = await create({
      name: 'typed',
      payload: {
        who: { type: 'string', description: 'Who' },
        age: { type: 'integer', required: false },
        size: { type: 'string', options: ['S', 'M'], default: 'M' },
        tags: { type: 'array', required: false },
      },
      steps: [{ id: 'end', type: 'end-flow' }],
    })
    for (const [body, paths] of [
      [{}, ['who']],
      [{ who: 1 }, ['who']],
      [{ who: 'x', age: 1.5, size: 'L', tags: {} }, ['age', 'size', 'tags']],
      [{ who: null }, ['who']],
    ] as const) {
      const refused = await api.call('POST', `/api/workflow/start/${id}`, body)
      expect(refused).toMatchObject({
        status: 400,
        body: { success: false, error: { message: 'Invalid input', code: 'INVALID_INPUT' } },
      })
      expect(refused.body.error.details.map((detail: { path: string }) => detail.path)).toEqual(paths)
    }
    const ok = await api.call('POST', `/api/workflow/start/${id}`, { who: 'x', undeclared: true })
    expect(ok).toMatchObject({ status: 200, body: { data: { who: 'x', size: 'M' } } })
  })

  test('values may be in an object data, which takes precedence by field', async () => {
    const end = { id: 'end', type: 'end-flow' }
    const plain = await create({ name: 'p', payload: { a: { type: 'string' }, b: { type: 'string' } }, steps: [end] })
    const both = await api.call('POST', `/api/workflow/start/${plain}`, { a: 'top', b: 'top', data: { b: 'inner' } })
    expect(both.body.data).toEqual({ a: 'top', b: 'inner' })
    const declared = await create({ name: 'd', payload: { data: { type: 'object' } }, steps: [end] })
    expect((await api.call('POST', `/api/workflow/start/${declared}`, { data: { a: 1 } })).body.data).toEqual({
      data: { a: 1 },
    })
  })

  test('a definition with problems does not start, and each problem is reported', async () => {
    const id = await create({
      name: 'broken',
      initialStep: 'nope',
      steps: [{ id: 'x', type: 'made-up' }],
      edges: [{ from: 'x', to: 'y' }],
    })
    const { status: code, body } = await api.call('POST', `/api/workflow/start/${id}`, {})
    expect(code).toBe(400)
    expect(body.error).toMatchObject({ code: 'VALIDATION_FAILED' })
    expect(body.error.details.map((detail: { code: string }) => detail.code)).toEqual([
      'UNKNOWN_INITIAL_STEP',
      'UNKNOWN_STEP_TYPE',
      'DANGLING_EDGE',
    ])
  })

  test('the published version runs; a later draft only on request', async () => {
    const id = await create({ name: 'v', steps: [{ id: 'end', type: 'end-flow', output: { v: 1 } }] })
    expect((await api.call('POST', `/api/workflows/${id}/publish`, {})).body).toMatchObject({
      status: 'published',
      publishedVersion: 1,
    })
    await api.call('PUT', `/api/workflows/${id}`, { steps: [{ id: 'end', type: 'end-flow', output: { v: 2 } }] })
    expect((await api.call('POST', `/api/workflow/start/${id}`, {})).body.result).toEqual({ v: 1 })
    expect((await api.call('POST', `/api/workflow/start/${id}?version=latest`, {})).body.result).toEqual({ v: 2 })
    expect((await api.call('POST', `/api/workflow/start/${id}?version=1`, {})).body.result).toEqual({ v: 1 })
    expect((await api.call('POST', `/api/workflow/start/${id}?version=9`, {})).status).toBe(404)
  })
})

describe('POST /api/workflow/start-async/:workflowId', () => {
  test('returns exactly { runId } at once', async () => {
    const started = await api.call('POST', '/api/workflow/start-async/wf_order_approval', {})
    expect(started.status).toBe(200)
    expect(Object.keys(started.body)).toEqual(['runId'])
    expect(started.headers.get('location')).toBe(`/api/workflow/status/${started.body.runId}`)
  })

  test('an unknown workflow, wrong key or wrong method gets the documented error', async () => {
    const path = '/api/workflow/start-async/wf_hello'
    expect(await api.call('POST', '/api/workflow/start-async/wf_nobody', {})).toMatchObject({
      status: 404,
      body: { error: { message: 'Workflow not found' } },
    })
    for (const headers of [
      { 'x-api-key': '' },
      { 'x-api-key': 'sk_wrong_wrong_wrong' },
      { 'x-api-key': 'nonsense' },
      { 'x-tenant-id': 'ten_other' },
    ]) {
      const refused = await api.call('POST', path, { name: 'x' }, { headers })
      expect(refused).toMatchObject({
        status: 401,
        body: { success: false, error: { message: 'Unauthorized', code: 'UNAUTHORIZED', details: [] } },
      })
    }
    const without = await api.call('POST', path, { name: 'x' }, { headers: { 'x-tenant-id': '' } })
    expect(without.status).toBe(200)
    const wrong = await api.call('GET', path)
    expect(wrong).toMatchObject({ status: 405, body: { error: { code: 'METHOD_NOT_ALLOWED' } } })
    expect(wrong.headers.get('allow')).toContain('POST')
  })
})
