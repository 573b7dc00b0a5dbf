import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { files } from '@/db/schema/files'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { createSigningSecret } from '@/server/credentials/signing-secrets/create'
import { limitSigningSecret } from '@/server/credentials/signing-secrets/limit'
import { MultipartInput } from '@/server/http/multipart-input'
import { listInboundDeliveries } from '@/server/inbound/deliveries'
import { receiveDelivery } from '@/server/inbound/receive'
import { createInbound } from '@/server/inbound/save'
import { answerTaskLink } from '@/server/links/answer'
import { createTaskLink } from '@/server/links/create'
import { startRun } from '@/server/runs/start'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { callTool, connect, named, serveMcp, tokenOf } from '../mcp/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

// A file is named in other ways than by a start over REST, too; `named.test.ts` has those.

let database: FreshDatabase
let runtime: TestRuntime
let server: Awaited<ReturnType<typeof serveMcp>>
let dataDir: string
let ada: Client
const ids = { plain: '', asks: '' }
const payload = { paper: { type: 'file', required: false } }
const REFUSED = 'must be the id of a stored file that you may read'

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'millrace-elsewhere-'))
  database = await freshDatabase()
  const settings = { DATA_DIR: dataDir, ENCRYPTION_KEY: 'ab'.repeat(32), JWT_AUDIENCE: 'app.example.com' }
  runtime = await startTestRuntime(database.url, settings)
  server = await serveMcp()
  ids.plain = await published('Plain', [{ id: 'end', type: 'end-flow', output: { paper: '${paper}' } }])
  ids.asks = await published('Asks', [
    { id: 'ask', type: 'collect-inputs', output: { extra: { type: 'file', required: false } } },
  ])
  const secret = await createSigningSecret(runtime.ctx, { name: 'App', role: 'operator' })
  const limits = { workflowIds: null, agentIds: null, ownRuns: true }
  await limitSigningSecret(runtime.ctx, { id: secret.id, limits })
  ada = await connect(server.url, tokenOf(secret, 'ada'))
})
afterAll(async () => {
  await ada?.close()
  await server?.close()
  await runtime?.stop()
  await database?.close()
  rmSync(dataDir, { recursive: true, force: true })
})

async function published(name: string, steps: object[], ctx = runtime.ctx): Promise<string> {
  const { id } = await createWorkflow(ctx, { name, steps, payload } as never)
  await publishWorkflow(ctx, { id })
  return id
}

/** The id of a file of a run that was not started by Ada. */
async function upload(ctx = runtime.ctx, workflowId = ids.plain): Promise<string> {
  const file = { name: 'a.txt', type: 'text/plain', bytes: Buffer.from('private') }
  const { runId } = await startRun(ctx, { workflowId, body: new MultipartInput(new Map(), file) })
  const [row] = await database.db.select().from(files).where(eq(files.runId, runId))
  return row?.id ?? ''
}

test('a start and an answer by MCP take a file within the reach of the token only', async () => {
  const asks = await callTool(ada, await named(ada, 'Asks'))
  for (const id of [await upload(), randomUUID()]) {
    const started = await callTool(ada, await named(ada, 'Plain'), { paper: id })
    expect(started).toMatchObject({ isError: true, error: { code: 'INVALID_INPUT' } })
    expect(JSON.stringify(started)).toContain(`paper ${REFUSED}`)
    const answer = { runId: asks.runId, type: 'collect_inputs', data: { extra: id } }
    expect(JSON.stringify(await callTool(ada, 'answer_run', answer))).toContain(`extra ${REFUSED}`)
  }
  expect((await runtime.status(asks.runId)).status).toBe('paused')
})

test('an answer by a task link takes no file at all', async () => {
  const { runId } = await startRun(runtime.ctx, { workflowId: ids.asks, body: {} })
  await runtime.wait(runId, ({ status }) => status === 'paused')
  const { id: keyId } = await createApiKey(runtime.ctx, { name: 'Backend', role: 'owner' })
  const maker = { ...runtime.ctx, actor: { kind: 'apiKey', id: keyId, role: 'owner' } as const }
  const { url } = await createTaskLink(maker, { runId, body: {}, origin: 'https://millrace.example.com' })
  const { db, log, now } = runtime.ctx
  const visitor = { db: db as never, headers: new Headers(), log, now, requestId: 'from-a-link' }
  for (const extra of [await upload(), randomUUID()]) {
    const given = { token: url.slice(url.indexOf('#') + 1), data: { extra } }
    await expect(answerTaskLink(visitor, given)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  }
  expect((await runtime.status(runId)).status).toBe('paused')
})

test('a delivery takes a stored file of its workspace only', async () => {
  const { ctx, db } = runtime
  const body = { name: 'Papers', scheme: 'none', mapping: { paper: '${body.id}' } }
  const { id: inboundId, path } = await createInbound(ctx, { workflowId: ids.plain, body })
  const send = async (id: string) => {
    const headers = new Headers({ 'content-type': 'application/json' })
    const readBytes = async () => Buffer.from(JSON.stringify({ id }))
    const arrival = { hookId: path.split('/').at(-1) ?? '', headers, query: {}, readBytes }
    return receiveDelivery({ db, log: ctx.log, now: ctx.now, requestId: 'test' }, arrival).catch((err: unknown) => err)
  }
  const other = await runtime.as('owner', 'ten_other')
  const foreign = await upload(other, await published('Plain', [{ id: 'end', type: 'end-flow' }], other))
  for (const id of [foreign, randomUUID()]) expect(await send(id)).toMatchObject({ code: 'INVALID_INPUT' })
  await send(await upload())
  const { items } = await listInboundDeliveries(ctx, { workflowId: ids.plain, inboundId, query: {} })
  const refused = { status: 'invalid', runId: null, error: expect.stringContaining(REFUSED) }
  expect(items).toMatchObject([{ status: 'started' }, refused, refused])
})
