import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, startApi } from '../support/api'

let api: Api
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const status = async (runId: string) => (await api.call('GET', `/api/workflow/status/${runId}`)).body
async function startOrder(): Promise<string> {
  const { body } = await api.call('POST', '/api/workflow/start-async/wf_order_approval', {})
  await expect.poll(async () => (await status(body.runId)).status).toBe('paused')
  return body.runId
}

describe('GET /api/workflow/status/:runId', () => {
  test('has every documented field with its type', async () => {
    const run = await status(await startOrder())
    expect(run).toMatchObject({
      runId: expect.stringMatching(/^run_/),
      workflowId: 'wf_order_approval',
      status: 'paused',
      currentStepId: 'order',
      pauseSignal: {
        type: 'collect_inputs',
        stepId: 'order',
        fields: {
          item: { type: 'string', description: 'What is ordered' },
          amount: { type: 'number', description: 'What it costs' },
        },
      },
      data: {},
      result: null,
      startTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
    expect(run.stepExecutionHistory).toEqual([
      expect.objectContaining({
        stepId: 'order',
        stepType: 'collect-inputs',
        stepName: 'The order',
        status: 'running',
        startTime: expect.any(String),
        inputData: expect.any(Object),
        outputData: {},
      }),
    ])
    expect(run.stepExecutionHistory[0]).not.toHaveProperty('endTime')
    expect(run.stepExecutionHistory[0]).not.toHaveProperty('duration')
  })

  test('an unknown or malformed id is a run that does not exist', async () => {
    for (const id of ['run_nobody', 'x', '%00', '..%2f', 'a'.repeat(300)]) {
      const { status: code, body } = await api.call('GET', `/api/workflow/status/${id}`)
      expect(code, id).toBe(404)
      expect(body.success).toBe(false)
    }
    expect((await api.call('GET', '/api/workflow/status/run_nobody')).body.error).toEqual({
      message: 'Run not found',
      code: 'RUN_NOT_FOUND',
      details: [],
    })
  })
})

describe('POST /api/workflow/resume/:runId', () => {
  test('handles both kinds of pause up to the result', async () => {
    const runId = await startOrder()
    const path = `/api/workflow/resume/${runId}`
    const given = { type: 'collect_inputs', data: { item: 'Chair', amount: 12.5 } }
    expect((await api.call('POST', path, given)).body).toEqual({ success: true, runId, status: 'running' })
    await expect.poll(async () => (await status(runId)).pauseSignal?.type).toBe('request_user_action')
    expect((await status(runId)).pauseSignal).toMatchObject({
      stepId: 'decision',
      title: 'Order of Chair',
      message: 'May Chair be bought for 12.5?',
      actions: [
        { id: 'approve', label: 'Approve' },
        { id: 'reject', label: 'Reject' },
      ],
    })
    expect(
      await api.call('POST', path, { type: 'request_user_action', actionId: 'approve', actionValue: 'approved' }),
    ).toMatchObject({ status: 200 })
    await expect.poll(async () => (await status(runId)).status).toBe('completed')
    const run = await status(runId)
    expect(run).toMatchObject({
      pauseSignal: null,
      currentStepId: 'end',
      result: { item: 'Chair', amount: 12.5, decision: 'approved' },
      data: { item: 'Chair', amount: 12.5, decision: { actionId: 'approve', actionValue: 'approved' } },
    })
    expect(
      run.stepExecutionHistory.map((step: { stepId: string; status: string }) => [step.stepId, step.status]),
    ).toEqual([
      ['order', 'completed'],
      ['decision', 'completed'],
      ['end', 'completed'],
    ])
    for (const step of run.stepExecutionHistory) {
      expect(Date.parse(step.endTime) - Date.parse(step.startTime)).toBe(step.duration)
      expect(Number.isInteger(step.duration)).toBe(true)
    }
  })

  test('an invalid answer is rejected by field, and the run stays paused', async () => {
    const runId = await startOrder()
    const before = await status(runId)
    for (const [body, path] of [
      [{ type: 'collect_inputs', data: { item: 'x' } }, 'data.amount'],
      [{ type: 'collect_inputs', data: { item: 'x', amount: '3' } }, 'data.amount'],
      [{ type: 'request_user_action', actionId: 'approve' }, 'type'],
      [{ data: { item: 'x', amount: 3 } }, 'type'],
      [{ type: 'something' }, 'type'],
    ] as const) {
      const refused = await api.call('POST', `/api/workflow/resume/${runId}`, body)
      expect(refused, JSON.stringify(body)).toMatchObject({
        status: 400,
        body: { error: { code: 'INVALID_INPUT', message: 'Invalid input' } },
      })
      expect(refused.body.error.details[0].path).toBe(path)
    }
    expect(await status(runId)).toEqual(before)
  })

  test('repeated, simultaneous, or for a run that is not paused: 409 with the status', async () => {
    const runId = await startOrder()
    const body = { type: 'collect_inputs', data: { item: 'Desk', amount: 1 } }
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => api.call('POST', `/api/workflow/resume/${runId}`, { ...body, stepId: 'order' })),
    )
    expect(answers.filter(({ status: code }) => code === 200)).toHaveLength(1)
    expect(answers.filter(({ status: code }) => code === 409)).toHaveLength(19)
    const { body: done } = await api.call('POST', '/api/workflow/start/wf_hello', { name: 'x' })
    expect(await api.call('POST', `/api/workflow/resume/${done.runId}`, body)).toMatchObject({
      status: 409,
      body: { error: { code: 'RUN_NOT_PAUSED', details: [{ status: 'completed' }] } },
    })
    expect((await api.call('POST', '/api/workflow/resume/run_nobody', body)).status).toBe(404)
  })
})

describe('GET /api/workflow/metadata/input/:workflowId', () => {
  test('returns the START payload of the version that a start would run', async () => {
    expect((await api.call('GET', '/api/workflow/metadata/input/wf_hello')).body).toEqual({
      success: true,
      data: { workflowId: 'wf_hello', payload: { name: { type: 'string', description: 'Who is greeted' } } },
    })
    expect((await api.call('GET', '/api/workflow/metadata/input/wf_nobody')).status).toBe(404)
  })
})

describe('POST /api/tools/:toolId/invoke', () => {
  test('returns any JSON value, and the time it took', async () => {
    const { status: code, body } = await api.call('POST', '/api/tools/tool_add/invoke', { args: { a: 2, b: 3 } })
    expect(code).toBe(200)
    expect(body).toEqual({ success: true, data: 5, debug: { executionTime: expect.any(Number) } })
  })

  test('a tool that fails answers 200 with success false', async () => {
    const { status: code, body } = await api.call('POST', '/api/tools/tool_throws/invoke', {})
    expect(code).toBe(200)
    expect(body).toMatchObject({
      success: false,
      error: { message: 'This tool always fails.', code: 'EXECUTION_ERROR', details: expect.any(Array) },
    })
    expect(body).not.toHaveProperty('data')
  })

  test('unknown tools and versions, and wrong keys, get the documented messages', async () => {
    expect((await api.call('POST', '/api/tools/tool_nobody/invoke', {})).body.error.message).toBe('Tool not found')
    for (const version of [2, '2', 'newest', 0]) {
      expect(await api.call('POST', '/api/tools/tool_add/invoke', { version })).toMatchObject({
        status: 404,
        body: { error: { message: 'Tool not found' } },
      })
    }
    for (const version of ['latest', 'published', 1, '1']) {
      expect((await api.call('POST', '/api/tools/tool_add/invoke', { version, args: { a: 1, b: 1 } })).body.data).toBe(
        2,
      )
    }
    const refused = await api.call(
      'POST',
      '/api/tools/tool_add/invoke',
      {},
      { headers: { 'x-api-key': 'sk_not_this_one_here' } },
    )
    expect(refused).toMatchObject({ status: 401, body: { error: { message: 'Invalid or disabled API key' } } })
    expect((await api.call('POST', '/api/tools/tool_add/invoke', { args: [] })).status).toBe(400)
  })
})

describe('GET /api/health', () => {
  test('needs no credential and reveals nothing', async () => {
    const { status: code, body } = await api.call('GET', '/api/health', undefined, {
      headers: { 'x-api-key': '', 'x-tenant-id': '' },
    })
    expect(code).toBe(200)
    expect(body.status).toBe('ok')
    expect(JSON.stringify(body)).not.toMatch(/postgres|version|host/i)
  })

  test('the functions cannot be reached from outside', async () => {
    for (const method of ['GET', 'POST', 'PUT']) {
      expect(
        (
          await fetch(`${api.url}/api/inngest?fnId=millrace-run-workflow&stepId=step`, {
            method,
            ...(method === 'GET' ? {} : { body: '{}' }),
          })
        ).status,
      ).toBe(404)
    }
  })
})
