import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemContext } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { createSigningSecret } from '@/server/credentials/signing-secrets/create'
import { log } from '@/server/log'
import { type Api, type Caller, call, startApi } from '../support/api'
import { attempt as attemptAs, type Route, swept, withoutRequestId } from '../support/api-routes'
import { fingerprint as fingerprintOf, unlike } from '../support/fingerprint'
import { newScriptTool, newTenant, withRole } from '../support/tenant'

/**
 * Another tenant's object does not exist: for every kind of id that belongs to another tenant, every route answers 404
 * with the same bytes as for an unknown id, and changes nothing.
 */
let api: Api
let other: Caller
/** The other tenant's ids, by kind. */
const ids: Record<string, string> = {}

beforeAll(async () => {
  api = await startApi()
  const tenant = await newTenant(api.database)
  const ctx = withRole(systemContext({ tenantId: tenant.tenantId, db: api.database.db, log: log() }), 'owner')
  const { key } = await createApiKey(ctx, { name: 'other', role: 'owner' })
  other = { url: api.url, apiKey: key, tenantId: tenant.tenantId }
  const ask = async (method: string, path: string, body?: unknown) => (await call(other, method, path, body)).body

  ids.tool = await newScriptTool(ctx, 'return 1')
  const steps = [
    { id: 'order', type: 'collect-inputs', output: { item: { type: 'string' }, amount: { type: 'number' } } },
  ]
  for (const state of ['draft', 'published', 'archived']) {
    const { id } = await ask('POST', '/api/workflows', { name: state, steps })
    ids[`${state} workflow`] = id
    if (state === 'published') await ask('POST', `/api/workflows/${id}/publish`, {})
    if (state === 'archived') await ask('DELETE', `/api/workflows/${id}`)
  }
  ids['paused run'] = (await ask('POST', `/api/workflow/start/${ids['published workflow']}`, {})).runId
  const failing = await ask('POST', '/api/workflows', {
    name: 'f',
    steps: [{ id: 'x', type: 'call-tool', toolId: await newScriptTool(ctx, 'throw 1') }],
  })
  ids['failed run'] = (await ask('POST', `/api/workflow/start/${failing.id}`, {})).runId
  const ending = await ask('POST', '/api/workflows', { name: 'e', steps: [{ id: 'end', type: 'end-flow' }] })
  const form = new FormData()
  form.append('attachment', new Blob(['secret of the other tenant']), 'secret.txt')
  const upload = await fetch(`${api.url}/api/workflow/start/${ending.id}`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: form,
  })
  const run = (await upload.json()) as { runId: string; data: { fileId: string } }
  ids['completed run'] = run.runId
  ids.file = run.data.fileId
  ids.key = (await createApiKey(ctx, { name: 'spare', role: 'viewer' })).id
  ids.secret = (await createSigningSecret(ctx, { name: 'spare', role: 'operator' })).id
  const hook = { url: 'https://hooks.example.com', events: ['run.completed'] }
  ids.webhook = (await ask('POST', '/api/webhooks', hook)).id
  const inbound = `/api/workflows/${ids['published workflow']}/inbound-webhooks`
  ids['inbound webhook'] = (await ask('POST', inbound, { name: 'x', scheme: 'none' })).id
  ids.group = (await ask('POST', '/api/groups', { name: 'Finance' })).id
  ids.tenant = tenant.tenantId
})
afterAll(() => api.stop())

describe('another tenant’s object does not exist', () => {
  test('every kind of object is covered', () => {
    expect(swept.length).toBeGreaterThanOrEqual(20)
    expect(Object.values(ids).every((id) => typeof id === 'string' && id.length > 5)).toBe(true)
  })

  test.each(swept.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', async (name, route) => {
    const before = await fingerprint()
    for (const [kind, id] of Object.entries(ids)) {
      const theirs = await attempt(route, id)
      const nobodys = await attempt(route, unlike(id))
      expect(theirs.status, `${name} with the ${kind} of another tenant: ${JSON.stringify(theirs.body)}`).toBe(404)
      expect(withoutRequestId(theirs, id), `${name} tells a ${kind} of another tenant apart`).toEqual(
        withoutRequestId(nobodys, unlike(id)),
      )
    }
    expect(await fingerprint(), `${name} changed rows of another tenant`).toBe(before)
  })

  test('a key with another tenant’s id is refused', async () => {
    for (const { method, path } of swept.slice(0, 5)) {
      const answer = await call(
        { ...other, tenantId: api.tenantId },
        method,
        path.replace(/:\w+/g, 'x'),
        method === 'GET' || method === 'DELETE' ? undefined : {},
      )
      expect(answer.status).toBe(401)
    }
  })

  test('it cannot be reached through a field of the body either', async () => {
    const mine = (await api.call('POST', '/api/workflow/start-async/wf_order_approval', {})).body.runId
    const before = await fingerprint()
    for (const kind of ['cancel', 'terminate']) {
      const path = `/api/workflow/management/${kind}`
      expect((await api.call('POST', path, { workflowId: 'wf_order_approval', runId: ids['paused run'] })).status).toBe(
        404,
      )
      expect((await api.call('POST', path, { workflowId: ids['published workflow'], runId: mine })).status).toBe(404)
    }
    const toolStep = { name: 't', steps: [{ id: 'x', type: 'call-tool', toolId: ids.tool }] }
    const { id } = (await api.call('POST', '/api/workflows', toolStep)).body
    const refused = await api.call('POST', `/api/workflows/${id}/publish`, {})
    expect(refused.body.error.details).toMatchObject([{ code: 'TOOL_NOT_FOUND', stepId: 'x' }])
    const read = await api.call('POST', '/api/tools/tool_read_file/invoke', { args: { fileId: ids.file } })
    expect(read).toMatchObject({ status: 200, body: { success: false } })
    expect(JSON.stringify(read.body)).not.toContain('secret of the other tenant')
    const runs = await api.call('GET', `/api/workflow/runs?workflowId=${ids['published workflow']}`)
    expect(runs.body.runs).toEqual([])
    expect(await fingerprint()).toBe(before)
  })

  test('lists contain only the caller’s own', async () => {
    const texts = await Promise.all(
      ['/api/workflows?includeArchived=true', '/api/workflow/runs?limit=200'].map(async (path) =>
        JSON.stringify((await api.call('GET', path)).body),
      ),
    )
    for (const text of texts) for (const id of Object.values(ids)) expect(text).not.toContain(id)
  })
})

const attempt = (route: Route, id: string) => attemptAs(api, route, id)

/** A fingerprint of everything the other tenant has. */
const fingerprint = () => fingerprintOf(api.database.sql, other.tenantId)
