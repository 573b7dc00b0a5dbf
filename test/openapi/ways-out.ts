import { expect } from 'vitest'
import type { Api } from '../support/api'
import type { Recorder } from './recorder'

// Parts of test/api/openapi.test.ts.

/** Every answer of schedules of a new workflow. */
export async function recordSchedules({ get, post, call }: Recorder, workflow: string): Promise<void> {
  const body = { name: 'Daily', cron: '0 9 * * *', timeZone: 'Europe/Berlin' }
  const path = `${workflow}/schedules`
  const { id } = (await post(path, body)).body
  await get(path)
  await get(`${path}/${id}`)
  await call('PUT', `${path}/${id}`, { enabled: false })
  expect((await get(`${path}/sch_nobody`)).body.error.code).toBe('NOT_FOUND')
  expect((await call('PUT', `${path}/sch_nobody`, {})).body.error.code).toBe('NOT_FOUND')
  expect((await call('DELETE', `${path}/sch_nobody`)).body.error.code).toBe('NOT_FOUND')
  await call('DELETE', `${path}/${id}`)
  for (let i = 1; i <= 50; i++) await post(path, body)
  expect((await post(path, body)).body.error.code).toBe('CONFLICT')
  await call('DELETE', workflow)
  expect((await post(path, body)).body.error.code).toBe('WORKFLOW_ARCHIVED')
}

/** Every answer of the start links of a new workflow. */
export async function recordStartLinks({ get, post, call }: Recorder, workflow: string): Promise<void> {
  const path = `${workflow}/start-links`
  expect((await post(path)).body.error.code).toBe('CONFLICT')
  await post(`${workflow}/publish`)
  const { id, url } = (await post(path, { label: 'On the website', expiresIn: 'P30D' })).body
  expect(url).toMatch(/\/public\/start#/)
  const links = (await get(path)).body
  expect(links).toMatchObject([{ id, label: 'On the website', starts: 0 }])
  expect(JSON.stringify(links)).not.toContain(url.split('#')[1])
  expect((await call('DELETE', `${path}/${id}`)).body.revokedAt).not.toBeNull()
  expect((await call('DELETE', `${path}/stl_nobody`)).body.error.code).toBe('NOT_FOUND')
  expect((await post(path, { expiresIn: 'P2Y' })).body.error.code).toBe('INVALID_INPUT')
  await call('DELETE', workflow)
  expect((await post(path)).body.error.code).toBe('WORKFLOW_ARCHIVED')
}

/** Every answer of the task links of a paused run. */
async function recordTaskLinks({ get, post, call }: Recorder, runId: string): Promise<void> {
  const ended = (await post('/api/workflow/start/wf_hello', { name: 'Ada' })).body.runId
  const path = `/api/workflow/task-links/${runId}`
  const { id, url } = (await post(path, { expiresIn: 'PT12H', answeredBy: 'ada@example.com' })).body
  expect(url).toMatch(/\/task#/)
  const links = (await get(path)).body
  expect(links).toMatchObject([{ id, answeredBy: 'ada@example.com' }])
  expect(JSON.stringify(links)).not.toContain(url.split('#')[1])
  await call('DELETE', `${path}/${id}`)
  expect((await call('DELETE', `${path}/lnk_nobody`)).body.error.code).toBe('NOT_FOUND')
  expect((await post(path, { expiresIn: 'P1Y' })).body.error.code).toBe('INVALID_INPUT')
  expect((await post(`/api/workflow/task-links/${ended}`)).body.error.code).toBe('RUN_NOT_PAUSED')

  const actions = [{ id: 'ok', label: 'OK' }]
  const rules = { assignees: ['user:ada', 'role:operator'], needs: { ok: 2 }, noSelfApproval: true }
  const steps = [{ id: 'ask', type: 'request-user-action', actions, ...rules }]
  const workflowId = (await post('/api/workflows', { name: 'Asks', steps })).body.id
  const ruled = (await post(`/api/workflow/start/${workflowId}`)).body.runId
  await post(`/api/workflow/resume/${ruled}`, { type: 'request_user_action', actionId: 'ok', answeredBy: 'ada' })
  for (const [answeredBy, code] of [
    ['ada', 'ALREADY_VOTED'],
    ['eve', 'NOT_ASSIGNED'],
    [undefined, 'SELF_APPROVAL'],
  ])
    expect((await post(`/api/workflow/task-links/${ruled}`, { answeredBy })).body.error.code).toBe(code)
}

async function recordAudit({ get }: Recorder): Promise<void> {
  const { entries, nextCursor } = (await get('/api/audit?limit=2')).body
  expect(entries).toHaveLength(2)
  expect((await get(`/api/audit?limit=2&cursor=${nextCursor}`)).body.entries[0].id).not.toBe(entries[0].id)
  expect((await get('/api/audit', { headers: { accept: 'text/csv' } })).body).toContain(entries[0].id)
  expect((await get('/api/audit?action=workflow.stolen')).body.error.code).toBe('INVALID_INPUT')
}

/** Every answer of events. */
export async function recordEvents({ post }: Recorder): Promise<void> {
  const event = { name: 'payment.settled', key: 'order-1', data: { amount: 1 }, id: 'pay_1' }
  expect((await post('/api/events', event)).body).toEqual({ success: true, eventId: 'pay_1' })
  expect((await post('/api/events', { ...event, data: {} })).body.error.code).toBe('CONFLICT')
  expect((await post('/api/events', { ...event, data: [] })).body.error.code).toBe('INVALID_INPUT')
}

/** Every answer of members, the vault, API keys and signing secrets, and of the audit log. */
export async function recordAdmin(recorder: Recorder, api: Api, runId: string): Promise<void> {
  await recordMembers(recorder, api)
  await recordGroups(recorder)
  await recordVault(recorder)
  await recordKeys(recorder)
  await recordSigningSecrets(recorder)
  await recordTaskLinks(recorder, runId)
  await recordAudit(recorder)
}

async function recordMembers({ get, post, call }: Recorder, { database, tenantId }: Api): Promise<void> {
  const { body: before } = await get('/api/members')
  for (const [id, role] of Object.entries({ usr_first: 'owner', usr_second: 'viewer' })) {
    await database.sql`insert into users (id, email, name) values (${id}, ${`${id}@example.com`}, ${id})`
    await database.sql`insert into members (tenant_id, user_id, role) values (${tenantId}, ${id}, ${role})`
  }
  for (const { userId } of before) await call('DELETE', `/api/members/${userId}`)
  expect((await call('PUT', '/api/members/usr_second', { role: 'editor' })).body.role).toBe('editor')
  await call('DELETE', '/api/members/usr_second')
  const [owner] = (await get('/api/members')).body
  // The only one.
  expect((await call('PUT', `/api/members/${owner.userId}`, { role: 'viewer' })).body.error.code).toBe('CONFLICT')
  expect((await call('DELETE', `/api/members/${owner.userId}`)).body.error.code).toBe('CONFLICT')
  const invite = { email: 'grace@example.com', role: 'editor' }
  const { id, token } = (await post('/api/invitations', invite)).body
  expect((await post('/api/invitations', { ...invite, email: owner.email })).body.error.code).toBe('CONFLICT')
  const { body: listed } = await get('/api/invitations')
  expect(listed).toMatchObject([{ id, email: 'grace@example.com', expired: false }])
  expect(JSON.stringify(listed)).not.toContain(token)
  expect((await post(`/api/invitations/${id}/renew`)).body.token).not.toBe(token)
  await call('DELETE', `/api/invitations/${id}`)
  expect((await post(`/api/invitations/${id}/renew`)).body.error.code).toBe('CONFLICT')
  expect((await call('DELETE', `/api/invitations/${id}`)).body.error.code).toBe('CONFLICT')
}

async function recordGroups({ get, post, call }: Recorder): Promise<void> {
  const [{ userId }] = (await get('/api/members')).body
  const { id } = (await post('/api/groups', { name: 'Finance', memberIds: [userId] })).body
  expect((await post('/api/groups', { name: 'FINANCE' })).body.error.code).toBe('CONFLICT')
  const path = `/api/groups/${id}`
  const steps = [{ id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } }, assignees: ['group:Finance'] }]
  const workflowId = (await post('/api/workflows', { name: 'Asks Finance', steps })).body.id
  expect((await call('PUT', path, { name: 'Accounts' })).body).toMatchObject({
    earlierNames: ['finance'],
    usedBy: [{ workflowId, as: ['Finance'] }],
  })
  const other = (await post('/api/groups', { name: 'Shipping' })).body.id
  expect((await call('PUT', path, { name: 'Shipping' })).body.error.code).toBe('CONFLICT')
  expect((await get('/api/groups')).body).toHaveLength(2)
  expect((await get(path)).body.memberIds).toEqual([userId])
  for (const method of ['GET', 'PUT', 'DELETE'] as const)
    expect((await call(method, '/api/groups/grp_nobody', method === 'PUT' ? {} : undefined)).body.error.code).toBe(
      'NOT_FOUND',
    )
  for (const one of [id, other]) await call('DELETE', `/api/groups/${one}`)
}

async function recordVault({ get, post, call }: Recorder): Promise<void> {
  const secret = { name: 'RECORDED', value: 'never shown again' }
  expect((await post('/api/vault', secret)).status).toBe(201)
  expect((await post('/api/vault', { ...secret, value: 'another long value' })).status).toBe(200)
  expect((await call('PUT', '/api/vault/RECORDED/hosts', { hosts: ['A.example.com'] })).body.hosts).toEqual([
    'a.example.com',
  ])
  const { body } = await get('/api/vault')
  expect(body.find(({ name }: { name: string }) => name === 'RECORDED')).toMatchObject({ hosts: ['a.example.com'] })
  expect(JSON.stringify(body)).not.toMatch(/never shown|another long/)
  await call('DELETE', '/api/vault/RECORDED')
}

async function recordKeys({ get, post }: Recorder): Promise<void> {
  const { id } = (await post('/api/keys', { name: 'Orders', role: 'viewer' })).body
  const path = `/api/keys/${id}`
  expect((await post(`${path}/disable`)).body.disabled).toBe(true)
  expect((await post(`${path}/rotate`)).body.error.code).toBe('CONFLICT')
  expect((await post(`${path}/enable`)).body.disabled).toBe(false)
  const { body: rotated } = await post(`${path}/rotate`, { graceMs: 60_000 })
  const { body: keys } = await get('/api/keys')
  expect(keys.slice(0, 2)).toMatchObject([
    { id: rotated.id, rotatedFrom: id },
    { id, graceUntil: rotated.graceUntil },
  ])
  expect(JSON.stringify(keys)).not.toContain(rotated.key)
}

async function recordSigningSecrets({ get, post, call }: Recorder): Promise<void> {
  const { id, secret } = (await post('/api/signing-secrets', { name: 'Portal', ownRuns: true })).body
  const path = `/api/signing-secrets/${id}`
  expect(
    (await call('PUT', `${path}/limits`, { workflowIds: null, agentIds: null, ownRuns: false })).body,
  ).toMatchObject({ workflowIds: null, ownRuns: false })
  expect((await post(`${path}/disable`)).body.disabled).toBe(true)
  expect((await post(`${path}/rotate`)).body.error.code).toBe('CONFLICT')
  expect((await post(`${path}/enable`)).body.disabled).toBe(false)
  const { body: rotated } = await post(`${path}/rotate`, { graceMs: 60_000 })
  const { body: secrets } = await get('/api/signing-secrets')
  expect(secrets.slice(0, 2)).toMatchObject([
    { id: rotated.id, rotatedFrom: id },
    { id, graceUntil: rotated.graceUntil },
  ])
  for (const value of [secret, rotated.secret]) expect(JSON.stringify(secrets)).not.toContain(value)
}

/** Every answer of webhooks. */
export async function recordWebhooks({ get, post, call }: Recorder): Promise<void> {
  const webhook = { url: 'https://hooks.example.com', description: 'Orders', events: ['run.completed'] }
  const { id, secret } = (await post('/api/webhooks', webhook)).body
  expect(secret).toMatch(/^whsec_/)
  const path = `/api/webhooks/${id}`
  await get('/api/webhooks')
  await get(path)
  await call('PUT', path, { enabled: false })
  await post(`${path}/rotate`, { graceHours: 1 })
  const deliveryId = (await post(`${path}/test`)).body.id
  await get(`${path}/deliveries?status=pending&limit=1`)
  await get(`${path}/deliveries/${deliveryId}`)
  await post(`${path}/deliveries/${deliveryId}/redeliver`)
  for (let i = 1; i <= 20; i++) await post('/api/webhooks', webhook)
  expect((await post('/api/webhooks', webhook)).body.error.code).toBe('CONFLICT')
  await call('DELETE', path)
}

/** Every answer of inbound webhooks of a new workflow, and of deliveries to them. */
export async function recordInbound({ get, post, call }: Recorder, workflow: string): Promise<void> {
  const path = `${workflow}/inbound-webhooks`
  const { id } = (await post(path, { name: 'Issues', scheme: 'github' })).body
  expect((await post(path, { name: 'Issues', scheme: 'hmac' })).body.error.code).toBe('INVALID_INPUT')
  await get(path)
  await get(`${path}/${id}`)
  expect((await post(`${path}/${id}/rotate`, { graceHours: 1 })).body.secret).toMatch(/^[0-9a-f]{64}$/)
  expect((await post(`${path}/${id}/test`, { body: { action: 'opened' } })).body.starts).toBe(true)
  const open = { name: 'Open', scheme: 'none', idHeader: 'X-Id', when: '${body.action} == "opened"' }
  const { id: openId, path: hook } = (await post(path, open)).body
  const send = (name: string, body: unknown = { action: 'opened' }) => post(hook, body, { headers: { 'x-id': name } })
  expect((await send('one')).status).toBe(202)
  expect((await send('one')).body.outcome).toBe('duplicate')
  expect((await send('two', {})).body.outcome).toBe('filtered')
  const deliveries = `${path}/${openId}/deliveries`
  const [{ id: deliveryId }] = (await get(`${deliveries}?status=started&limit=1`)).body
  await get(`${deliveries}/${deliveryId}`)
  expect((await post(`${deliveries}/${deliveryId}/replay`)).body.replayOf).toBe(deliveryId)
  expect((await post(`${deliveries}/dlv_nobody/replay`)).body.error.code).toBe('NOT_FOUND')
  for (const unknown of [`${path}/inb_nobody/deliveries`, `${deliveries}/dlv_nobody`])
    expect((await get(unknown)).body.error.code).toBe('NOT_FOUND')
  await get(`${path}/${openId}`)
  expect((await send('three', { x: 'x'.repeat(1_100_000) })).body.error.code).toBe('PAYLOAD_TOO_LARGE')
  const { path: signed } = (await post(path, { name: 'Slack', scheme: 'slack' })).body
  expect((await post(signed, {})).body.error.code).toBe('UNAUTHORIZED')
  expect((await post('/api/hooks/nobody', {})).body.error.code).toBe('NOT_FOUND')
  await call('PUT', workflow, { payload: { item: { type: 'string' } } })
  expect((await send('four')).body.error.code).toBe('INVALID_INPUT')
  const steps = [{ id: 'pay', type: 'call-tool', toolId: 'tool_nobody' }]
  await call('PUT', workflow, { payload: {}, steps })
  expect((await send('five')).body.error.code).toBe('VALIDATION_FAILED')
  await call('PUT', `${path}/${openId}`, { enabled: false })
  expect((await send('six')).body.error.code).toBe('CONFLICT')
  await call('PUT', `${path}/${openId}`, { enabled: true })
  for (const [method, of] of [
    ['GET', ''],
    ['PUT', ''],
    ['DELETE', ''],
    ['POST', '/rotate'],
    ['POST', '/test'],
  ])
    expect((await call(method ?? '', `${path}/inb_nobody${of}`, method === 'GET' ? undefined : {})).status).toBe(404)
  for (let i = 0; i < 50; i++) await post(path, open)
  expect((await post(path, open)).body.error.code).toBe('CONFLICT')
  await call('DELETE', `${path}/${id}`)
  await call('DELETE', workflow)
  expect((await send('seven')).body.error.code).toBe('WORKFLOW_ARCHIVED')
  expect((await post(path, open)).body.error.code).toBe('WORKFLOW_ARCHIVED')
  expect((await post(`${path}/${openId}/test`, {})).body.error.code).toBe('WORKFLOW_ARCHIVED')
}

/** A delivery to a new inbound webhook. */
export async function newDelivery({ post }: Recorder, workflowId: string) {
  const path = `/api/workflows/${workflowId}/inbound-webhooks`
  const { id, path: hook } = (await post(path, { name: 'Open', scheme: 'none' })).body
  const { deliveryId } = (await post(hook)).body
  return { inboundId: id as string, deliveryId: deliveryId as string }
}

/** Every answer of the MCP server's own format. */
export async function recordMcp({ post }: Recorder): Promise<void> {
  const rpc = { jsonrpc: '2.0', method: 'tools/list' }
  for (const id of [1, 'one']) expect((await post('/api/mcp', { ...rpc, id })).body).toMatchObject({ id, result: {} })
  expect((await post('/api/mcp', { ...rpc, id: 2, method: 'x' })).body.error.code).toBe(-32601)
  expect((await post('/api/mcp', { ...rpc, method: 'notifications/initialized' })).status).toBe(202)
  expect((await post('/api/mcp', { id: 1 })).body.error.code).toBe('INVALID_INPUT')
}

/** Every answer of the export, and of deleting the data of a subject that started this open run. */
export async function recordSubjects({ get, call }: Recorder, api: Api, runId: string): Promise<void> {
  const lines = (await get('/api/workflow/runs/export?limit=1')).body.trimEnd().split('\n').map(JSON.parse)
  expect(lines).toMatchObject([
    { runId: expect.any(String), stepExecutionHistory: expect.any(Array) },
    { nextCursor: expect.any(String) },
  ])
  await api.database.sql`update runs set started_by = 'a/b c', started_via = 'jwt' where id = ${runId}`
  const path = '/api/subjects/data?sub=a%2Fb%20c'
  expect((await get(path)).body).toMatchObject({ sub: 'a/b c', runs: 1, openRuns: 1 })
  expect((await call('DELETE', path)).body.error.code).toBe('CONFLICT')
  expect((await call('DELETE', `${path}&terminateRuns=true`)).body).toMatchObject({ deleted: { runs: 1 }, done: true })
}

/** Every answer of an upload before a run. */
export async function recordUploads({ post, call, record, form }: Recorder, api: Api): Promise<void> {
  expect((await form('/api/files', 'hello')).body).toMatchObject({ fileId: expect.any(String), size: 5 })
  const begun = (await post('/api/files', { name: 'a.txt', type: 'text/plain', size: 5 })).body
  expect((await post(`/api/files/${begun.id}/complete`)).body.error.code).toBe('CONFLICT')
  const path = `/api/files/${begun.id}/content`
  const put = async (body: string, headers: Record<string, string> = begun.put.headers, at = path) => {
    const response = await fetch(`${api.url}${at}`, { method: 'PUT', headers, body })
    return record('PUT', at, { status: response.status, headers: response.headers, body: await response.json() })
  }
  expect((await put('hello', {})).body.error.code).toBe('FILE_NOT_FOUND')
  expect((await put('hell')).body.error.code).toBe('INVALID_INPUT')
  expect((await put('hello')).body).toEqual({ id: begun.id, size: 5 })
  expect((await put('hello')).body.error.code).toBe('CONFLICT')
  expect((await post(`/api/files/${begun.id}/complete`)).body).toMatchObject({ name: 'a.txt', size: 5 })
  expect((await post('/api/files/0b9c3c5e-58a3-4f0e-9a8e-6d2f5f1d7c11/complete')).body.error.code).toBe(
    'FILE_NOT_FOUND',
  )
  expect((await post('/api/files', { name: 'a.txt', size: 26_214_401 })).body.error.code).toBe('FILE_TOO_LARGE')
  expect((await call('DELETE', `/api/files/${begun.id}`)).body).toEqual({ id: begun.id, deleted: true })
  expect((await call('DELETE', `/api/files/${begun.id}`)).body.error.code).toBe('FILE_NOT_FOUND')
  const others = Array.from({ length: 21 }, () => post('/api/files', { name: 'a.txt', size: 5 }))
  expect((await Promise.all(others)).map(({ status }) => status)).toContain(409)
}
