import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemContext } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { log } from '@/server/log'
import { type Api, startApi } from '../support/api'
import { withRole } from '../support/tenant'

/** One test per line of the document's tables of states, endpoints, errors and limits, named after the line. */
let api: Api
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const end = [{ id: 'end', type: 'end-flow' }]
const create = async (definition: object = {}) =>
  (await api.call('POST', '/api/workflows', { name: 'Spec', steps: end, ...definition })).body
const status = async (runId: string) => (await api.call('GET', `/api/workflow/status/${runId}`)).body
async function startPaused(): Promise<string> {
  const { runId } = (await api.call('POST', '/api/workflow/start-async/wf_order_approval', {})).body
  await expect.poll(async () => (await status(runId)).status).toBe('paused')
  return runId
}
async function keyOf(role: 'viewer' | 'operator' | 'editor' | 'admin'): Promise<string> {
  const ctx = withRole(systemContext({ tenantId: api.tenantId, db: api.database.db, log: log() }), 'owner')
  return (await createApiKey(ctx, { name: role, role })).key
}

describe('Workflow definition status', () => {
  for (const state of ['draft', 'published'] as const) {
    test(`${state} | DELETE /api/workflows/:id | archived | Soft delete; can be restored`, async () => {
      const { id } = await create()
      if (state === 'published') await api.call('POST', `/api/workflows/${id}/publish`, {})
      expect((await api.call('DELETE', `/api/workflows/${id}`)).body).toMatchObject({ id, status: 'archived' })
      expect((await api.call('GET', `/api/workflows/${id}`)).body.status).toBe('archived')
    })
  }
  test('archived | POST /api/workflows/:id/unarchive | draft', async () => {
    const { id } = await create()
    await api.call('DELETE', `/api/workflows/${id}`)
    expect((await api.call('POST', `/api/workflows/${id}/unarchive`, {})).body).toMatchObject({ id, status: 'draft' })
  })
  test('archived | DELETE /api/workflows/:id/permanent | caller has the Owner role | removed permanently | Irreversible', async () => {
    const { id } = await create()
    expect((await api.call('DELETE', `/api/workflows/${id}/permanent`)).status).toBe(409)
    await api.call('DELETE', `/api/workflows/${id}`)
    const admin = await api.call('DELETE', `/api/workflows/${id}/permanent`, undefined, {
      headers: { 'x-api-key': await keyOf('admin') },
    })
    expect(admin).toMatchObject({ status: 403, body: { error: { message: 'Forbidden' } } })
    expect((await api.call('DELETE', `/api/workflows/${id}/permanent`)).body).toEqual({ id, deleted: true })
    expect((await api.call('GET', `/api/workflows/${id}`)).status).toBe(404)
    expect((await api.call('POST', `/api/workflows/${id}/unarchive`, {})).status).toBe(404)
  })
  test('POST /api/workflows/:id/clone | a new workflow in draft | Name of the copy carries the suffix " (Copy)"', async () => {
    const source = await create({ name: 'Original' })
    const copy = (await api.call('POST', `/api/workflows/${source.id}/clone`, {})).body
    expect(copy).toMatchObject({ name: 'Original (Copy)', status: 'draft', steps: source.steps })
    expect(copy.id).not.toBe(source.id)
  })
})

describe('Workflow run status', () => {
  test('none | start (sync or async) | running | Run begins at initialStep; steps run in sequence along edges', async () => {
    const steps = [
      { id: 'z', type: 'end-flow' },
      { id: 'y', type: 'call-tool', toolId: 'tool_greet', args: { name: 'y' } },
      { id: 'x', type: 'call-tool', toolId: 'tool_greet', args: { name: 'x' } },
    ]
    const { id } = await create({
      steps,
      initialStep: 'x',
      edges: [
        { from: 'x', to: 'y' },
        { from: 'y', to: 'z' },
      ],
    })
    const run = (await api.call('POST', `/api/workflow/start/${id}`, {})).body
    expect(run.stepExecutionHistory.map((step: { stepId: string }) => step.stepId)).toEqual(['x', 'y', 'z'])
  })
  test('running | a step needing human input or an action is reached | paused | pauseSignal is set', async () => {
    expect(await status(await startPaused())).toMatchObject({
      status: 'paused',
      pauseSignal: { type: 'collect_inputs' },
    })
  })
  test('paused | POST /api/workflow/resume/:runId | body matches the pause type | execution continues', async () => {
    const runId = await startPaused()
    expect(
      (await api.call('POST', `/api/workflow/resume/${runId}`, { type: 'request_user_action', actionId: 'x' })).status,
    ).toBe(400)
    expect(
      (
        await api.call('POST', `/api/workflow/resume/${runId}`, {
          type: 'collect_inputs',
          data: { item: 'a', amount: 1 },
        })
      ).status,
    ).toBe(200)
    await expect.poll(async () => (await status(runId)).currentStepId).toBe('decision')
  })
  test('running | the end-flow step is reached | completed | result is filled', async () => {
    expect((await api.call('POST', '/api/workflow/start/wf_hello', { name: 'x' })).body).toMatchObject({
      status: 'completed',
      result: { message: 'Hello, x!' },
    })
  })
  test('running | a step fails permanently | failed | The failing step record has status failed and an error message', async () => {
    const { id } = await create({ steps: [{ id: 'bad', type: 'call-tool', toolId: 'tool_throws' }] })
    expect((await api.call('POST', `/api/workflow/start/${id}`, {})).body).toMatchObject({
      status: 'failed',
      stepExecutionHistory: [{ status: 'failed', error: 'This tool always fails.' }],
    })
  })
  for (const kind of ['cancel', 'terminate'] as const) {
    test(`running | ${kind} | the run ends within the four documented states`, async () => {
      const runId = await startPaused()
      const answer = await api.call('POST', `/api/workflow/management/${kind}`, {
        workflowId: 'wf_order_approval',
        runId,
        reason: 'Test',
      })
      expect(answer).toMatchObject({
        status: 200,
        body: { success: true, runId, workflowId: 'wf_order_approval', reason: 'Test' },
      })
      await expect.poll(async () => (await status(runId)).status).toBe('failed')
      expect(await status(runId)).toMatchObject({
        outcome: kind === 'cancel' ? 'cancelled' : 'terminated',
        pauseSignal: null,
        result: null,
      })
    })
  }
})

describe('Endpoints: workflow execution and definitions', () => {
  test('POST start/:workflowId | fields not declared there are ignored | runId, status, data (object), result (object)', async () => {
    const { body } = await api.call('POST', '/api/workflow/start/wf_hello', { name: 'x', more: 1 })
    expect(body).toMatchObject({
      runId: expect.any(String),
      status: 'completed',
      data: { name: 'x' },
      result: expect.any(Object),
    })
    expect(body.data).not.toHaveProperty('more')
  })
  test('POST start-async/:workflowId | Object: runId only. Returns immediately.', async () => {
    const { body } = await api.call('POST', '/api/workflow/start-async/wf_hello', { name: 'x' })
    expect(Object.keys(body)).toEqual(['runId'])
  })
  test('The input values may be sent as top-level JSON fields, or inside an object named data', async () => {
    const top = await api.call('POST', '/api/workflow/start/wf_hello', { name: 'x' })
    const inner = await api.call('POST', '/api/workflow/start/wf_hello', { data: { name: 'x' } })
    expect(inner.body.result).toEqual(top.body.result)
  })
  test('GET /api/workflows | search (string, matches name or description)', async () => {
    await create({ name: 'Zebra crossing' })
    await create({ name: 'Other', description: 'about a zebra' })
    expect((await api.call('GET', '/api/workflows?search=zebra')).body).toHaveLength(2)
    expect((await api.call('GET', '/api/workflows?search=nothing-like-it')).body).toEqual([])
  })
  test('GET /api/workflows | status (draft, published, archived), includeArchived (boolean, default false)', async () => {
    const { id } = await create({ name: 'Giraffe' })
    const seen = async (query: string) => (await api.call('GET', `/api/workflows?search=giraffe&${query}`)).body.length
    expect([await seen(''), await seen('status=draft'), await seen('status=published')]).toEqual([1, 1, 0])
    await api.call('DELETE', `/api/workflows/${id}`)
    expect([await seen(''), await seen('includeArchived=true'), await seen('status=archived')]).toEqual([0, 1, 1])
    expect((await api.call('GET', '/api/workflows?status=other')).status).toBe(400)
  })
  test('GET /api/workflows | limit (integer), offset (integer) have no default', async () => {
    for (let i = 0; i < 3; i++) await create({ name: `Paged ${i}` })
    const names = async (query: string) =>
      (await api.call('GET', `/api/workflows?search=paged&${query}`)).body.map((item: { name: string }) => item.name)
    const all = await names('')
    expect(all).toHaveLength(3)
    expect([...(await names('limit=2')), ...(await names('limit=2&offset=2'))]).toEqual(all)
  })
  test('PUT /api/workflows/:id | Updates the current definition', async () => {
    const { id } = await create()
    expect((await api.call('PUT', `/api/workflows/${id}`, { name: 'Renamed' })).body).toMatchObject({
      id,
      name: 'Renamed',
      steps: end,
      version: 2,
    })
  })
  test('POST /api/workflows/:id/publish | Publishes the current definition', async () => {
    const { id } = await create()
    expect((await api.call('POST', `/api/workflows/${id}/publish`, {})).body).toMatchObject({
      id,
      status: 'published',
      publishedVersion: 1,
    })
  })
})

describe('Errors', () => {
  test('400 | Invalid input | Missing or invalid request parameters', async () => {
    expect(await api.call('POST', '/api/workflows', {})).toMatchObject({
      status: 400,
      body: { success: false, error: { message: 'Invalid input', details: [{ path: 'name' }] } },
    })
  })
  test('401 | Unauthorized | Missing or invalid authentication', async () => {
    expect(await api.call('GET', '/api/workflows', undefined, { headers: { 'x-api-key': '' } })).toMatchObject({
      status: 401,
      body: { error: { message: 'Unauthorized' } },
    })
  })
  test('403 | Forbidden | Insufficient permissions', async () => {
    const refused = await api.call(
      'POST',
      '/api/workflows',
      { name: 'x' },
      { headers: { 'x-api-key': await keyOf('viewer') } },
    )
    expect(refused).toMatchObject({ status: 403, body: { error: { message: 'Forbidden' } } })
  })
  test('404 | Workflow not found | Workflow does not exist', async () => {
    for (const [method, path] of [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['POST', '/publish'],
      ['POST', '/clone'],
      ['POST', '/unarchive'],
      ['DELETE', '/permanent'],
    ] as const) {
      const answer = await api.call(
        method,
        `/api/workflows/wf_nobody${path}`,
        method === 'GET' || method === 'DELETE' ? undefined : {},
      )
      expect(answer, `${method} ${path}`).toMatchObject({
        status: 404,
        body: { error: { message: 'Workflow not found' } },
      })
    }
  })
  test('Tool invoke: 401 | Invalid or disabled API key | key or tenant id wrong or key disabled', async () => {
    for (const headers of [{ 'x-api-key': '' }, { 'x-api-key': 'sk_wrong_wrong' }, { 'x-tenant-id': 'ten_wrong' }]) {
      expect(await api.call('POST', '/api/tools/tool_add/invoke', {}, { headers })).toMatchObject({
        status: 401,
        body: { error: { message: 'Invalid or disabled API key' } },
      })
    }
  })
  test('Tool invoke: 404 | Tool not found | tool does not exist, the version is wrong, or the tool is not in the tenant', async () => {
    expect(await api.call('POST', '/api/tools/tool_none/invoke', {})).toMatchObject({
      status: 404,
      body: { error: { message: 'Tool not found' } },
    })
    expect(await api.call('POST', '/api/tools/tool_add/invoke', { version: 99 })).toMatchObject({
      status: 404,
      body: { error: { message: 'Tool not found' } },
    })
  })
  test('Tool invoke: 200 | (body has success false) | error.code is EXECUTION_ERROR for a script runtime failure', async () => {
    expect(await api.call('POST', '/api/tools/tool_throws/invoke', {})).toMatchObject({
      status: 200,
      body: { success: false, error: { code: 'EXECUTION_ERROR' } },
    })
  })
})

describe('Limits and authentication', () => {
  const form = (size: number, part = 'attachment') => {
    const body = new FormData()
    body.append(part, new Blob([new Uint8Array(size)]), 'file.bin')
    body.append('name', 'Ada')
    return body
  }
  const upload = (body: FormData) =>
    fetch(`${api.url}/api/workflow/start/wf_hello`, {
      method: 'POST',
      headers: { 'x-api-key': api.apiKey, 'x-tenant-id': api.tenantId },
      body,
    })

  test('Maximum uploaded file size | 3.75 MB | multipart start, part attachment', async () => {
    const accepted = await upload(form(3_932_160))
    expect(accepted.status).toBe(200)
    expect((await accepted.json()).data.fileId).toMatch(/^[0-9a-f-]{36}$/)
    expect((await upload(form(3_932_161))).status).toBe(413)
  })
  test('File part name | attachment | multipart start', async () => {
    expect((await upload(form(10, 'file'))).status).toBe(400)
  })
  test('x-api-key … keys start with sk_ | each key can be disabled on its own', async () => {
    expect(api.apiKey).toMatch(/^sk_/)
    const key = await keyOf('operator')
    expect(key).toMatch(/^sk_/)
    expect((await api.call('GET', '/api/workflows', undefined, { headers: { 'x-api-key': key } })).status).toBe(200)
    const { hashApiKey } = await import('@/server/auth/api-key')
    await api.database.sql`update api_keys set disabled_at = now() where hash = ${hashApiKey(key)}`
    expect((await api.call('GET', '/api/workflows', undefined, { headers: { 'x-api-key': key } })).status).toBe(401)
    expect((await api.call('GET', '/api/workflows')).status).toBe(200)
  })
})
