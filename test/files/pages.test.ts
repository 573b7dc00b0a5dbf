import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { files } from '@/db/schema/files'
import { members } from '@/db/schema/members'
import type { ServiceContext } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { MultipartInput } from '@/server/http/multipart-input'
import { createTaskLink } from '@/server/links/create'
import { revokeTaskLink } from '@/server/links/revoke'
import { serve } from '@/server/rest/serve'
import type { Role } from '@/server/roles'
import { resumeRun } from '@/server/runs/resume'
import { startRun } from '@/server/runs/start'
import { describeFiles } from '@/server/vault/describe-files'
import { FILE_ENDPOINTS } from '@/server/vault/file-endpoints'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { newVisitor, ORIGIN, type Visitor } from '../trpc/support'

let database: FreshDatabase
let runtime: TestRuntime
let dataDir: string
const people = {} as Record<Role, Visitor>
let stranger: Visitor
let maker: ServiceContext

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'millrace-pages-'))
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, {
    DATA_DIR: dataDir,
    ENCRYPTION_KEY: 'ab'.repeat(32),
    RATE_LIMIT_FAILURES: '0',
  })
  for (const role of ['viewer', 'operator', 'admin'] as const) people[role] = await newVisitor(runtime.ctx, role)
  const key = await createApiKey(runtime.ctx, { name: 'Mailer', role: 'operator' })
  maker = { ...runtime.ctx, actor: { kind: 'apiKey', id: key.id, role: 'operator' } }
  stranger = await newVisitor(await runtime.as('owner', 'ten_other'), 'owner')
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
  rmSync(dataDir, { recursive: true, force: true })
})

const { GET } = serve(FILE_ENDPOINTS.downloadFile)
const download = (id: string, headers: Record<string, string>) =>
  GET(new Request(`${ORIGIN}/api/files/${id}`, { headers }), { params: Promise.resolve({ id }) })
const asPage = ({ cookie }: Visitor, more: Record<string, string> = {}) => ({
  cookie,
  'sec-fetch-site': 'same-origin',
  ...more,
})
const byLink = (token: string) => ({ 'x-task-link': token, 'sec-fetch-site': 'same-origin' })

const ASKING = { id: 'ok', type: 'request-user-action', actions: [{ id: 'yes', label: 'Yes' }] }
const END = { id: 'end', type: 'end-flow' }

/** A run with a file, and the file's id. */
async function sent(definition: { steps: object[]; payload?: object }, texts: Record<string, string> = {}) {
  const { id } = await createWorkflow(runtime.ctx, { name: 'Receipts', ...definition } as never)
  const file = { name: 'receipt.txt', type: 'text/html', bytes: Buffer.from('12.50 EUR') }
  const values = new Map(Object.entries(texts).map(([name, text]) => [name, [text]]))
  const { runId } = await startRun(runtime.ctx, { workflowId: id, body: new MultipartInput(values, file) })
  await runtime.wait(runId, ({ status }) => status !== 'running')
  const [row] = await database.db.select().from(files).where(eq(files.runId, runId))
  return { fileId: row?.id ?? '', runId }
}

async function linkTo(runId: string) {
  const { url, id } = await createTaskLink(maker, { runId, body: {}, origin: ORIGIN })
  return { id, token: new URL(url).hash.slice(1) }
}

describe('the session of the dashboard', () => {
  test('downloads a file of each workspace that the person belongs to, and of no other', async () => {
    const { fileId } = await sent({ steps: [END] })
    for (const id of [fileId, fileId.toUpperCase()]) {
      const response = await download(id, asPage(people.viewer))
      expect(response.status).toBe(200)
      expect(await response.text()).toBe('12.50 EUR')
    }
    const refused = await download(fileId, asPage(stranger))
    const unknown = await download('00000000-0000-4000-8000-000000000000', asPage(stranger))
    const odd = await download('../../etc/passwd', asPage(stranger))
    for (const response of [refused, unknown, odd]) {
      expect(response.status).toBe(404)
      expect(await response.json()).toMatchObject({ error: { code: 'FILE_NOT_FOUND' } })
    }
    await database.db
      .insert(members)
      .values({ tenantId: runtime.ctx.tenantId, userId: stranger.userId, role: 'viewer', createdAt: new Date() })
    expect((await download(fileId, asPage(stranger))).status).toBe(200)
    await database.db.delete(members).where(sql`user_id = ${stranger.userId} and tenant_id = ${runtime.ctx.tenantId}`)
    expect((await download(fileId, asPage(stranger))).status).toBe(404)
  })

  test('gets what a browser only ever saves: no page, no script, no other site', async () => {
    const { fileId } = await sent({ steps: [END] })
    const { headers } = await download(fileId, asPage(people.viewer))
    expect(headers.get('content-disposition')).toMatch(/^attachment; /)
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'; sandbox")
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
    expect(headers.get('access-control-allow-origin')).toBeNull()
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8')
  })

  test('counts only for our own pages and the address bar', async () => {
    const { fileId } = await sent({ steps: [END] })
    const status = async (headers: Record<string, string>) => (await download(fileId, headers)).status
    expect(await status(asPage(people.viewer, { 'sec-fetch-site': 'none' }))).toBe(200)
    expect(await status({ cookie: people.viewer.cookie })).toBe(200)
    for (const site of ['cross-site', 'same-site']) {
      expect(await status(asPage(people.viewer, { 'sec-fetch-site': site }))).toBe(401)
    }
    expect(await status({ cookie: 'next-auth.session-token=nonsense' })).toBe(401)
    // A credential that is sent decides, even a wrong one.
    expect(await status(asPage(people.viewer, { 'x-api-key': 'mr_wrong' }))).toBe(401)
    expect(await status({})).toBe(401)
  })

  test('never shows the file of a sensitive field to whoever may not reveal it, not even its name', async () => {
    const payload = { passport: { type: 'file', sensitive: true } }
    const { fileId } = await sent({ steps: [END], payload })
    expect((await download(fileId, asPage(people.operator))).status).toBe(403)
    expect((await download(fileId, asPage(people.admin))).status).toBe(200)
    const named = async (role: Role) =>
      (await describeFiles(person(role), { ids: [fileId] })).files.map(({ name }) => name)
    expect(await named('operator')).toEqual([])
    expect(await named('admin')).toEqual(['receipt.txt'])
  })
})

const person = (role: Role): ServiceContext => ({
  ...runtime.ctx,
  actor: { kind: 'user', id: `usr_${role}`, name: role, sessionId: 's', role },
})

test('a file is described by its safe name, its detected type and its size; other UUIDs are left out', async () => {
  const { fileId } = await sent({ steps: [END] })
  await database.db.update(files).set({ name: '..\\evil\u202Etxt.exe' }).where(eq(files.id, fileId))
  const ids = [fileId.toUpperCase(), '00000000-0000-4000-8000-000000000000', 'nonsense']
  expect((await describeFiles(person('viewer'), { ids })).files).toEqual([
    { id: fileId, name: 'eviltxt.exe', type: 'text/plain; charset=utf-8', size: 9 },
  ])
  const other = await runtime.as('owner', 'ten_other')
  expect(await describeFiles(other, { ids })).toEqual({ files: [] })
  await expect(describeFiles(other, { ids: Array(51).fill(fileId) })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})

describe('a task link', () => {
  const payload = { receipt: { type: 'file' }, note: { type: 'string', required: false } }

  test.each([
    ['the card', { show: [{ label: 'Receipt', value: '${receipt}' }] }],
    ['the message', { message: 'Please look at ${receipt}.' }],
  ])('opens the file that its author shows in %s, as long as the task is open', async (_, asked) => {
    const { runId, fileId } = await sent({ payload, steps: [{ ...ASKING, ...asked }] })
    const { token, id } = await linkTo(runId)
    const response = await download(fileId, byLink(token))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-disposition')).toMatch(/^attachment; /)
    expect(await response.text()).toBe('12.50 EUR')
    await revokeTaskLink(runtime.ctx, { runId, linkId: id })
    expect((await download(fileId, byLink(token))).status).toBe(404)
    const second = await linkTo(runId)
    expect((await download(fileId, byLink(second.token))).status).toBe(200)
    await resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', actionId: 'yes' } })
    expect((await download(fileId, byLink(second.token))).status).toBe(404)
  })

  test('opens nothing else: not what the run has unshown, nor what only a text of the caller names', async () => {
    const shown = { ...ASKING, show: [{ label: 'Note', value: '${note}' }] }
    const others = await sent({ steps: [END] })
    const { runId, fileId } = await sent({ payload, steps: [shown] }, { note: `also ${others.fileId}` })
    const { token } = await linkTo(runId)
    for (const id of [fileId, others.fileId, 'nonsense']) expect((await download(id, byLink(token))).status).toBe(404)
    expect((await download(fileId, byLink('forged'))).status).toBe(404)
  })

  test('opens a file of another run whose id was checked as a file', async () => {
    const earlier = await sent({ steps: [END] })
    const steps = [{ ...ASKING, show: [{ label: 'Receipt', value: '${receipt}' }] }]
    const runId = await runtime.start({ payload, steps }, { receipt: earlier.fileId })
    await runtime.wait(runId, ({ status }) => status === 'paused')
    const { token } = await linkTo(runId)
    expect((await download(earlier.fileId, byLink(token))).status).toBe(200)
  })

  test('opens no file of a sensitive field, even if the author shows it', async () => {
    const hidden = { receipt: { type: 'file', sensitive: true } }
    const { runId, fileId } = await sent({
      payload: hidden,
      steps: [{ ...ASKING, show: [{ label: 'Receipt', value: '${receipt}' }] }],
    })
    const { token } = await linkTo(runId)
    expect((await download(fileId, byLink(token))).status).toBe(404)
  })
})
