import { afterAll, beforeAll, expect, test } from 'vitest'
import { tenants } from '@/db/schema/tenants'
import { webhookDeliveries } from '@/db/schema/webhooks'
import { type ServiceContext, withTransaction } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { newId } from '@/server/ids'
import { findInbound } from '@/server/inbound/find'
import { insertDelivery } from '@/server/inbound/once'
import { createInbound } from '@/server/inbound/save'
import { OPERATIONS } from '@/server/rest/openapi-document'
import { exportRuns } from '@/server/runs/export'
import { readHistory } from '@/server/runs/history'
import { resumeRun } from '@/server/runs/resume'
import { getRunStatus } from '@/server/runs/status'
import { readValue } from '@/server/runs/whole-value'
import { createWebhook } from '@/server/webhooks/create'
import { findDelivery } from '@/server/webhooks/find'
import { bodyOf } from '@/server/webhooks/message'
import { keepWorkflowCase } from '@/server/workflows/test-cases'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { caseOf, KINDS } from '../trpc/procedures'
import { callProcedure, newVisitor, type Visitor } from '../trpc/support'

// Signed-in people see a sensitive field only by `runs.reveal`, not by any other read of a run. Keys get the value.

const IBAN = 'nightjar-DE02-1203'
const PIN = 'four-nine-seven'
const VALUES = new RegExp(`${IBAN}|${PIN}`)

let database: FreshDatabase
let runtime: TestRuntime
let owner: Visitor
let viewer: Visitor
let key: ServiceContext
let workflowId: string
/** One that ended, one that failed with a message that has the value, one that waits. */
let runIds: string[]
let ids: Record<'webhookId' | 'deliveryId' | 'inboundId' | 'inboundDeliveryId' | 'caseId', string>

const DEFINITION = {
  name: 'Pay out',
  payload: { iban: { type: 'string', sensitive: true }, end: { type: 'string' } },
  steps: [
    { id: 'ask', type: 'collect-inputs', output: { pin: { type: 'string', sensitive: true, default: '${iban}' } } },
    { id: 'way', type: 'condition', when: '${end} == "well"' },
    { id: 'note', type: 'set-data', values: { letter: 'Dear ${iban}', nested: [{ iban: '${iban}' }] } },
    { id: 'end', type: 'end-flow', output: { iban: '${iban}', letter: '${letter}' } },
    { id: 'fail', type: 'fail-flow', code: 'REFUSED', message: 'No account ${iban}' },
  ],
  edges: [
    { from: 'ask', to: 'way' },
    { from: 'way', to: 'note', on: 'true' },
    { from: 'way', to: 'fail', on: 'false' },
    { from: 'note', to: 'end' },
  ],
}

beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
  runtime = await startTestRuntime(database.url, {
    ENCRYPTION_KEY: 'ab'.repeat(32),
    MILLRACE_EMBEDDED: '1',
    RATE_LIMIT_REQUESTS: '0',
    ALLOW_PRIVATE_HOSTS: '127.0.0.1',
  })
  owner = await newVisitor(runtime.ctx, 'owner')
  viewer = await newVisitor(runtime.ctx, 'viewer')
  await runtime.db.update(tenants).set({ slug: owner.tenant ?? '' })
  const { id } = await createApiKey(runtime.ctx, { name: 'Backend', role: 'owner' })
  key = { ...runtime.ctx, actor: { kind: 'apiKey', id, role: 'owner' } }
  runIds = await Promise.all([begun('well', true), begun('badly', true), begun('well', false)])
  workflowId = (await runtime.status(runIds[0] ?? '')).workflowId
  ids = await furnished()
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

async function begun(end: string, answered: boolean): Promise<string> {
  const runId = await runtime.start(DEFINITION, { iban: IBAN, end })
  await runtime.wait(runId, ({ status }) => status === 'paused')
  if (!answered) return runId
  await resumeRun(runtime.ctx, { runId, body: { type: 'collect_inputs', data: { pin: PIN } } })
  await runtime.wait(runId)
  return runId
}

/** Copies of a run's data elsewhere. */
async function furnished() {
  const { ctx } = runtime
  const [done = ''] = runIds
  const { id: webhookId } = await createWebhook(ctx, { url: 'http://127.0.0.1:9/', events: ['run.completed'] })
  const deliveryId = newId('msg')
  const at = new Date()
  await ctx.db.insert(webhookDeliveries).values({
    ...{ tenantId: ctx.tenantId, id: deliveryId, endpointId: webhookId, type: 'run.completed', runId: done },
    ...{ createdAt: at, dueAt: new Date('2100-01-01'), status: 'failed' as const },
  })
  const body = await bodyOf(ctx, await findDelivery(ctx, webhookId, deliveryId), 'standard')
  expect(body).toMatch(VALUES)
  const attempts = [{ at: at.toISOString(), durationMs: 1, status: 500, error: null, response: `What is ${IBAN}?` }]
  await ctx.db.update(webhookDeliveries).set({ body, attempts })
  const mapping = { iban: '${body.account}', end: '"well"' }
  const inbound = await createInbound(ctx, { workflowId, body: { name: 'Orders', scheme: 'none', mapping } })
  const webhook = await findInbound(ctx, { workflowId, inboundId: inbound.id })
  const sent = { contentType: 'application/json', headers: { 'x-account': IBAN }, query: { of: IBAN } }
  const content = { ...sent, body: JSON.stringify({ account: IBAN }) }
  const inboundDeliveryId = await withTransaction(ctx, (tx) =>
    insertDelivery(tx, { webhookId: webhook.id, content, key: null }),
  )
  const kept = { name: 'As it was', runId: done, expected: { kind: 'same' } }
  const { id: caseId } = await keepWorkflowCase(ctx, { id: workflowId, body: kept })
  return { webhookId, deliveryId, inboundId: inbound.id, inboundDeliveryId: inboundDeliveryId ?? '', caseId }
}

/** An API call's response on the reference page's *Try it*. */
async function tried(visitor: Visitor, method: string, path: string, body?: object) {
  const answer = await callProcedure(visitor, 'reference.send', {
    ...{ method, path },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  expect(answer.status, answer.text).toBe(200)
  const { status, text } = JSON.parse(answer.text).result.data as { status: number; text: string }
  return { status, text }
}

/** The addresses of a GET, one for each object that it can be of. */
function addressesOf(path: string): string[] {
  const query: Record<string, string[]> = {
    '/api/workflow/value/[runId]': ['?field=input', '?field=data', '?field=result', '?field=output&record=1'],
  }
  const values: Record<string, string[]> = {
    // A stream of a waiting run has no end.
    runId: path.includes('/events/') ? runIds.slice(0, 2) : runIds,
    workflowId: [workflowId],
    id: [workflowId],
    webhookId: [ids.webhookId],
    inboundId: [ids.inboundId],
    deliveryId: [path.includes('inbound') ? ids.inboundDeliveryId : ids.deliveryId],
    version: ['1'],
  }
  let found = [path]
  for (const [, name = ''] of path.matchAll(/\{(\w+)\}/g))
    found = found.flatMap((one) => (values[name] ?? ['none']).map((value) => one.replace(`{${name}}`, value)))
  return found.flatMap((one) => (query[path.replace(/\{/g, '[').replace(/\}/g, ']')] ?? ['']).map((text) => one + text))
}

/** The answers that contain run values, so that only hiding protects them. */
const WITH_VALUES = [
  '/api/workflow/status/{runId}',
  '/api/workflow/history/{runId}',
  '/api/workflow/value/{runId}',
  '/api/workflow/runs',
  '/api/workflow/runs/export',
  '/api/workflows/{id}/inbound-webhooks/{inboundId}/deliveries/{deliveryId}',
  '/api/webhooks/{webhookId}/deliveries',
  '/api/webhooks/{webhookId}/deliveries/{deliveryId}',
]

test.each(OPERATIONS.filter(({ method }) => method === 'GET').map(({ path }) => path))(
  'GET %s of the reference page hides sensitive fields, from an owner too',
  async (path) => {
    const told = (await Promise.all(addressesOf(path).map((one) => tried(owner, 'GET', one)))).map(({ text }) => text)
    expect(told.filter((text) => VALUES.test(text))).toEqual([])
    // The document itself says what the three stars mean.
    if (path === '/api/openapi.json') return
    expect(told.some((text) => text.includes('***'))).toBe(WITH_VALUES.includes(path))
  },
)

test('a viewer is shown as little by status, export and MCP', async () => {
  const [done = ''] = runIds
  const rpc = (method: string, params: object) =>
    tried(viewer, 'POST', '/api/mcp', { jsonrpc: '2.0', id: 1, method, params })
  const told = [
    await tried(viewer, 'GET', `/api/workflow/status/${done}`),
    await tried(viewer, 'GET', '/api/workflow/runs/export'),
    await rpc('tools/call', { name: 'get_run', arguments: { runId: done } }),
    await rpc('resources/read', { uri: `millrace://runs/${done}` }),
    await rpc('resources/read', { uri: `millrace://tasks/${done}/ask` }),
  ]
  for (const { status, text } of told) {
    expect(status, text).toBe(200)
    expect(text).toContain('***')
    expect(text).not.toMatch(VALUES)
  }
})

test('the response to a start or an answer is hidden as well, and its form still has its fields', async () => {
  const started = await tried(owner, 'POST', `/api/workflow/start/${workflowId}?version=latest`, {
    iban: IBAN,
    end: 'well',
  })
  const run = JSON.parse(started.text)
  expect(run).toMatchObject({ status: 'paused', data: { iban: '***', end: 'well' } })
  expect(run.pauseSignal.fields).toEqual({ pin: { type: 'string', sensitive: true, required: false } })
  const call = { name: 'answer_run', arguments: { runId: run.runId, type: 'collect_inputs', data: { pin: PIN } } }
  const answered = await tried(owner, 'POST', '/api/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call })
  for (const { text } of [started, answered]) expect(text).not.toMatch(VALUES)
  expect(answered.text).toContain('***')
})

test('no query of the dashboard has a sensitive field, whichever object it is asked about', async () => {
  const objects = [workflowId, ...runIds, ...Object.values(ids)]
  for (const name of Object.keys(KINDS).filter((one) => KINDS[one] === 'query')) {
    const { input } = caseOf(name)
    for (const one of input ? objects.map(input) : [undefined]) {
      const { text } = await callProcedure(owner, name, one)
      expect(text, `${name} ${JSON.stringify(one)}`).not.toMatch(VALUES)
    }
  }
  for (const [name, input] of [
    ['workflows.cases', { id: workflowId }],
    ['webhooks.delivery', { id: ids.webhookId, deliveryId: ids.deliveryId }],
    ['inbound.delivery', { workflowId, inboundId: ids.inboundId, deliveryId: ids.inboundDeliveryId }],
  ] as const) {
    const { status, text } = await callProcedure(owner, name, input)
    expect([name, status, text.includes('***')]).toEqual([name, 200, true])
    expect(text).not.toMatch(VALUES)
  }
})

test('a test case that is shown hidden still passes, and its expectation stays when it is sent back as shown', async () => {
  const shown = await callProcedure(owner, 'workflows.cases', { id: workflowId })
  const [{ expected }] = JSON.parse(shown.text).result.data
  await callProcedure(owner, 'workflows.changeExpected', { id: workflowId, caseId: ids.caseId, expected })
  const ran = await callProcedure(owner, 'workflows.runCases', { id: workflowId, body: {} })
  expect(JSON.parse(ran.text).result.data.results).toMatchObject([{ outcome: 'passed' }])
  await callProcedure(owner, 'workflows.changeExpected', {
    ...{ id: workflowId, caseId: ids.caseId },
    expected: { kind: 'fields', fields: [{ path: ['iban'], value: '1' }] },
  })
  const differs = await callProcedure(owner, 'workflows.runCases', { id: workflowId, body: {} })
  const hidden = '"***"'
  expect(JSON.parse(differs.text).result.data.results).toMatchObject([
    { outcome: 'failed', differences: [{ path: 'iban', expected: hidden, actual: hidden }] },
  ])
})

test('a key gets every value, as it is stored', async () => {
  const [done = ''] = runIds
  expect(await getRunStatus(key, { runId: done })).toMatchObject({ data: { iban: IBAN, pin: PIN } })
  expect(await readValue(key, done, { field: 'result' })).toEqual({ value: { iban: IBAN, letter: `Dear ${IBAN}` } })
  expect(JSON.stringify(await readHistory(key, done, {}))).toContain(PIN)
  expect(await new Response(await exportRuns(key, {})).text()).toContain(PIN)
})
