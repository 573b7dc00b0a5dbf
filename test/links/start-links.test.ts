import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { files } from '@/db/schema/files'
import { members } from '@/db/schema/members'
import { runs } from '@/db/schema/runs'
import type { Visitor } from '@/server/auth/visitor'
import type { ServiceContext } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { disableApiKey } from '@/server/credentials/api-keys/disable'
import { createSigningSecret } from '@/server/credentials/signing-secrets/create'
import { limitSigningSecret } from '@/server/credentials/signing-secrets/limit'
import { openTaskLink } from '@/server/links/open'
import { createStartLink } from '@/server/links/start/create'
import { listStartLinks } from '@/server/links/start/list'
import { openStartLink } from '@/server/links/start/open'
import { revokeStartLink } from '@/server/links/start/revoke'
import { startByLink } from '@/server/links/start/submit'
import { signLink, signStartLink } from '@/server/links/token'
import { startersOf } from '@/server/runs/may-answer'
import { resumeRun } from '@/server/runs/resume'
import { handleTrpc } from '@/server/trpc/handler'
import { getRunOverview } from '@/server/views/runs/overview'
import {
  archiveWorkflow,
  createWorkflow,
  publishWorkflow,
  unarchiveWorkflow,
  updateWorkflow,
} from '@/server/workflows/lifecycle'
import { newMember } from '../members/people'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { outcome } from '../workflows/support'

const DAY_MS = 24 * 3600_000
let database: FreshDatabase
let runtime: TestRuntime
let dataDir: string
let tess: Awaited<ReturnType<typeof newMember>>

beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
  dataDir = mkdtempSync(join(tmpdir(), 'millrace-start-links-'))
  runtime = await startTestRuntime(database.url, {
    ...{ DATA_DIR: dataDir, ENCRYPTION_KEY: 'ab'.repeat(32), MILLRACE_EMBEDDED: '1' },
    // Clocks go back and forth here.
    ...{ RATE_LIMIT_REQUESTS: '0', RATE_LIMIT_STARTS: '0', RATE_LIMIT_FAILURES: '100000' },
  })
  tess = await newMember(database, runtime.ctx, 'operator')
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
  rmSync(dataDir, { recursive: true, force: true })
})

const ORDER = {
  name: 'Order a van',
  description: 'For deliveries.',
  payload: {
    article: { type: 'string', label: 'Article' },
    iban: { type: 'string', sensitive: true, default: 'DE02120300000000202051' },
    papers: { type: 'array', items: { type: 'file' }, required: false },
  },
  steps: [{ id: 'ask', type: 'collect-inputs', title: 'How many?', output: { n: { type: 'number' } } }],
}

async function workflow(more: object = {}, ctx: ServiceContext = runtime.ctx): Promise<string> {
  const { id } = await createWorkflow(ctx, { ...ORDER, ...more } as never)
  await publishWorkflow(ctx, { id })
  return id
}

/** Makes a link. @returns its id and the code that opens it */
async function link(workflowId: string, body: object = {}, by: ServiceContext = tess.ctx) {
  const { url, ...made } = await createStartLink(by, { workflowId, body, origin: 'https://millrace.example.com' })
  expect(url).toMatch(/^https:\/\/millrace\.example\.com\/public\/start#[\w.-]+$/)
  return { ...made, token: url.slice(url.indexOf('#') + 1) }
}

/** A person on the internet. */
const visitor = (inMs = 0): Visitor => ({
  db: runtime.db,
  headers: new Headers({ 'x-forwarded-for': '203.0.113.7' }),
  log: runtime.ctx.log,
  now: () => new Date(Date.now() + inMs),
  requestId: 'from-a-link',
})
const open = (token: string, inMs = 0) => openStartLink(visitor(inMs), { token })
let forms = 0
const newForm = () => `form-${++forms}-of-a-test`
const send = (token: string, more: object = {}) =>
  startByLink(visitor(), { token, formId: newForm(), data: { article: 'Van 7' }, ...more })
const runsOf = (workflowId: string) => runtime.db.select().from(runs).where(eq(runs.workflowId, workflowId))
const audit = (action: string, workflowId: string) =>
  database.sql`select * from audit_entries where action = ${action} and thing_id = ${workflowId}`

test('a link shows only texts and form, starts a run for each form, and opening it starts none', async () => {
  const workflowId = await workflow()
  const { id, token, expiresAt } = await link(workflowId, { label: 'On the website', expiresIn: 'P30D' })
  expect(Math.abs(Date.parse(expiresAt) - Date.now() - 30 * DAY_MS)).toBeLessThan(60_000)
  for (let times = 0; times < 3; times++) {
    const { fields, ...view } = (await open(token)) as { fields: object }
    expect(view).toEqual({
      ...{ state: 'open', title: 'Order a van', description: 'For deliveries.', expiresAt },
      uploadLimit: 26_214_400,
    })
    expect(fields).toMatchObject({ article: { label: 'Article' }, iban: { required: false } })
    expect(JSON.stringify(fields)).not.toContain('DE02')
  }
  expect(await runsOf(workflowId)).toEqual([])
  expect(await send(token)).toEqual({ state: 'started', title: 'Order a van', at: expect.any(String) })
  expect(await send(token, { data: { article: 'Van 8', iban: 'DE99', n: 4, another: 1 } })).toMatchObject({
    state: 'started',
  })
  const started = (await runsOf(workflowId)).map(({ input, startedBy, startedVia }) => ({
    ...{ input, startedBy, startedVia },
  }))
  const by = { startedBy: id, startedVia: 'system' }
  expect(started).toHaveLength(2)
  expect(started).toContainEqual({ input: { article: 'Van 7', iban: ORDER.payload.iban.default }, ...by })
  expect(started).toContainEqual({ input: { article: 'Van 8', iban: 'DE99' }, ...by })
  const [run] = await runsOf(workflowId)
  expect(await getRunOverview(runtime.ctx, { runId: run?.id ?? '' })).toMatchObject({
    startedBy: { kind: 'system', name: 'a start link' },
  })
  const listed = await listStartLinks(runtime.ctx, { workflowId })
  expect(listed).toMatchObject([{ id, label: 'On the website', starts: 2, revokedAt: null }])
  expect(JSON.stringify(listed)).not.toContain(token)
  expect(await audit('workflow.startLinkMade', workflowId)).toMatchObject([
    { actor_id: tess.userId, details: { link: id, label: 'On the website' } },
  ])
})

test('a form starts one run, however often it arrives, concurrently too', async () => {
  const workflowId = await workflow()
  const { token } = await link(workflowId)
  const formId = newForm()
  const sent = await Promise.all(Array.from({ length: 8 }, () => send(token, { formId })))
  for (const view of sent) expect(view).toMatchObject({ state: 'started' })
  expect(await send(token, { formId, data: { article: 'Another' } })).toMatchObject({ state: 'started' })
  expect(await runsOf(workflowId)).toHaveLength(1)
  // The same name of a form on another link is another form.
  const other = await link(workflowId)
  expect(await send(other.token, { formId })).toMatchObject({ state: 'started' })
  expect(await runsOf(workflowId)).toHaveLength(2)
})

test('a refused form starts nothing, and may be corrected and sent again', async () => {
  const workflowId = await workflow()
  const { token } = await link(workflowId)
  const formId = newForm()
  expect(await outcome(send(token, { formId, data: {} }))).toBe('INVALID_INPUT')
  expect(await outcome(send(token, { formId, data: { article: 7 } }))).toBe('INVALID_INPUT')
  expect(await runsOf(workflowId)).toEqual([])
  expect(await send(token, { formId })).toMatchObject({ state: 'started' })
})

describe('files', () => {
  const file = (bytes: string | Buffer, name = 'a.txt') => ({
    part: 'papers',
    file: { name, type: 'text/plain', base64: Buffer.from(bytes).toString('base64') },
  })
  const stored = () => runtime.db.$count(files)

  test('are stored once with the run of their form', async () => {
    const workflowId = await workflow()
    const { token } = await link(workflowId)
    const formId = newForm()
    const before = await stored()
    const sent = { formId, files: [file('one'), file('two', 'b.txt')] }
    const views = await Promise.all([send(token, sent), send(token, sent)])
    expect(views).toMatchObject([{ state: 'started' }, { state: 'started' }])
    const [run, ...others] = await runsOf(workflowId)
    expect(others).toEqual([])
    expect(run?.input).toMatchObject({ papers: [expect.any(String), expect.any(String)] })
    expect(await stored()).toBe(before + 2)
  })

  test('of the workspace cannot be named, also not within `data`', async () => {
    const workflowId = await workflow()
    const { token } = await link(workflowId)
    await send(token, { files: [file('theirs')] })
    const [papers] = (await runsOf(workflowId)).map(({ input }) => (input as { papers: string[] }).papers)
    expect(await outcome(send(token, { data: { article: 'Van', papers } }))).toBe('INVALID_INPUT')
    expect(await outcome(send(token, { data: { data: { article: 'Van', papers } } }))).toBe('INVALID_INPUT')
    expect(await runsOf(workflowId)).toHaveLength(1)
  })

  test('are attached only to a form with a field for files, and `fileId` is never named', async () => {
    const attachment = { ...file('x'), part: 'attachment' }
    const before = await stored()
    const without = await workflow({ payload: {} })
    const { token } = await link(without)
    expect(await outcome(send(token, { data: {}, files: [attachment] }))).toBe('INVALID_INPUT')
    expect(await runsOf(without)).toEqual([])
    expect(await stored()).toBe(before)
    const declared = await workflow({ payload: { fileId: { type: 'string' } } })
    const other = await link(declared)
    expect(await outcome(send(other.token, { data: { fileId: 'x' } }))).toBe('INVALID_INPUT')
    expect(await send(other.token, { data: {}, files: [attachment] })).toMatchObject({ state: 'started' })
    expect((await runsOf(declared))[0]?.input).toEqual({ fileId: expect.any(String) })
  })

  test('that are too large, or that no field takes, are refused', async () => {
    const workflowId = await workflow()
    const { token } = await link(workflowId)
    const before = await stored()
    expect(await outcome(send(token, { files: [file(Buffer.alloc(3_932_161))] }))).toBe('FILE_TOO_LARGE')
    expect(await outcome(send(token, { files: [{ ...file('x'), part: 'article' }] }))).toBe('INVALID_INPUT')
    expect(await runsOf(workflowId)).toEqual([])
    expect(await stored()).toBe(before)
  })
})

describe('a link stops working', () => {
  test('when it expires or is revoked', async () => {
    const workflowId = await workflow()
    const { id, token } = await link(workflowId, { expiresIn: 'PT1H' })
    expect(await open(token, 3_700_000)).toEqual({ state: 'expired' })
    expect(await startByLink(visitor(3_700_000), { token, formId: newForm(), data: { article: 'x' } })).toEqual({
      state: 'expired',
    })
    await revokeStartLink(tess.ctx, { workflowId, linkId: id })
    expect(await revokeStartLink(tess.ctx, { workflowId, linkId: id })).toMatchObject({ id })
    expect(await open(token)).toEqual({ state: 'revoked' })
    expect(await send(token)).toEqual({ state: 'revoked' })
    expect(await runsOf(workflowId)).toEqual([])
    expect(await audit('workflow.startLinkRevoked', workflowId)).toHaveLength(1)
  })

  test('while its workflow is archived, and with it for good', async () => {
    const workflowId = await workflow()
    const { token } = await link(workflowId)
    await archiveWorkflow(runtime.ctx, { id: workflowId })
    expect(await open(token)).toEqual({ state: 'closed' })
    expect(await send(token)).toEqual({ state: 'closed' })
    await unarchiveWorkflow(runtime.ctx, { id: workflowId })
    expect(await send(token)).toMatchObject({ state: 'started' })
  })

  test('when its maker may no longer start runs, or has left', async () => {
    const workflowId = await workflow()
    const maker = await newMember(database, runtime.ctx, 'operator')
    const { token } = await link(workflowId, {}, maker.ctx)
    const mine = eq(members.userId, maker.userId)
    await runtime.db.update(members).set({ role: 'viewer' }).where(mine)
    expect(await send(token)).toEqual({ state: 'revoked' })
    await runtime.db.update(members).set({ role: 'operator' }).where(mine)
    expect(await open(token)).toMatchObject({ state: 'open' })
    await runtime.db.delete(members).where(mine)
    expect(await send(token)).toEqual({ state: 'revoked' })
    const { id } = await createApiKey(runtime.ctx, { name: 'Site', role: 'operator' })
    const key = { ...runtime.ctx, actor: { kind: 'apiKey' as const, id, role: 'operator' as const } }
    const byKey = await link(workflowId, {}, key)
    expect(await open(byKey.token)).toMatchObject({ state: 'open' })
    await disableApiKey(runtime.ctx, id)
    expect(await send(byKey.token)).toEqual({ state: 'revoked' })
    expect(await runsOf(workflowId)).toEqual([])
  })

  test('in its list too, while its maker may not start the workflow', async () => {
    const workflowId = await workflow()
    const maker = await newMember(database, runtime.ctx, 'operator')
    const lost = await link(workflowId, {}, maker.ctx)
    const kept = await link(workflowId)
    const mayStart = async () =>
      Object.fromEntries(
        (await listStartLinks(runtime.ctx, { workflowId })).map(({ id, makerMayStart }) => [id, makerMayStart]),
      )
    expect(await mayStart()).toEqual({ [lost.id]: true, [kept.id]: true })
    await runtime.db.update(members).set({ role: 'viewer' }).where(eq(members.userId, maker.userId))
    expect(await mayStart()).toEqual({ [lost.id]: false, [kept.id]: true })
    expect(await revokeStartLink(tess.ctx, { workflowId, linkId: lost.id })).toMatchObject({ makerMayStart: false })
  })

  test('after a day if a token made it, and once such tokens are limited to other workflows', async () => {
    const workflowId = await workflow()
    const { id } = await createSigningSecret(runtime.ctx, { name: 'App', role: 'operator' })
    const ivy = { ...runtime.ctx, actor: { kind: 'jwt', id: 'ivy', secretId: id, role: 'operator' } as const }
    const { token, expiresAt } = await link(workflowId, {}, ivy)
    expect(Math.abs(Date.parse(expiresAt) - Date.now() - DAY_MS)).toBeLessThan(60_000)
    const limit = (workflowIds: string[] | null) =>
      limitSigningSecret(runtime.ctx, { id, limits: { workflowIds, agentIds: null, ownRuns: false } })
    await limit([await workflow()])
    expect(await send(token)).toEqual({ state: 'revoked' })
    await limit([workflowId])
    expect(await send(token)).toMatchObject({ state: 'started' })
  })
})

test('a link of another workflow, kind or installation, or one that was tampered with, opens nothing', async () => {
  const workflowId = await workflow()
  const other = await workflow({ name: 'Other' })
  const { id, token } = await link(workflowId)
  const { tenantId } = runtime.ctx
  const [head, body, signature] = token.split('.')
  const claims = JSON.parse(Buffer.from(body ?? '', 'base64url').toString()) as object
  const forged = Buffer.from(JSON.stringify({ ...claims, workflow: other })).toString('base64url')
  for (const wrong of [
    '',
    'nonsense',
    `${head}.${forged}.${signature}`,
    await signStartLink({ tenantId, id, workflowId: other }),
    await signStartLink({ tenantId: 'ten_other', id, workflowId }),
    await signStartLink({ tenantId, id, workflowId }, [Buffer.alloc(32, 1)]),
    await signLink({ tenantId, id, runId: workflowId, pauseId: workflowId }),
  ]) {
    expect(await open(wrong), wrong).toEqual({ state: 'unknown' })
    expect(await send(wrong), wrong).toEqual({ state: 'unknown' })
  }
  expect(await openTaskLink(visitor(), { token })).toEqual({ state: 'unknown' })
  expect([...(await runsOf(workflowId)), ...(await runsOf(other))]).toEqual([])
})

test('links are made for published workflows of the own workspace, by people who may start runs', async () => {
  const workflowId = await workflow()
  const make = (by: ServiceContext, id = workflowId, body: object = {}) =>
    outcome(createStartLink(by, { workflowId: id, body, origin: '' }))
  const viewer = await newMember(database, runtime.ctx, 'viewer')
  expect(await make(viewer.ctx)).toBe('FORBIDDEN')
  expect(await outcome(revokeStartLink(viewer.ctx, { workflowId, linkId: 'stl_x' }))).toBe('FORBIDDEN')
  expect(await make(await runtime.as('owner', 'ten_elsewhere'))).toBe('WORKFLOW_NOT_FOUND')
  const draft = await createWorkflow(runtime.ctx, { name: 'Draft', steps: ORDER.steps } as never)
  expect(await make(tess.ctx, draft.id)).toBe('CONFLICT')
  for (const expiresIn of ['P367D', 'PT1S', 'P1M', 'soon']) {
    expect(await make(tess.ctx, workflowId, { expiresIn })).toBe('INVALID_INPUT')
  }
  const { id } = await link(workflowId)
  const elsewhere = await workflow({ name: 'Elsewhere' })
  expect(await outcome(revokeStartLink(tess.ctx, { workflowId: elsewhere, linkId: id }))).toBe('NOT_FOUND')
  const stranger = await runtime.as('owner', 'ten_elsewhere')
  expect(await outcome(listStartLinks(stranger, { workflowId }))).toBe('WORKFLOW_NOT_FOUND')
  await archiveWorkflow(runtime.ctx, { id: workflowId })
  expect(await make(tess.ctx)).toBe('WORKFLOW_ARCHIVED')
})

test('a link starts the version that is published when the form arrives', async () => {
  const workflowId = await workflow()
  const { token } = await link(workflowId)
  await updateWorkflow(runtime.ctx, { id: workflowId, body: { name: 'Renamed' } as never })
  expect(await open(token)).toMatchObject({ title: 'Order a van' })
  await publishWorkflow(runtime.ctx, { id: workflowId })
  expect(await send(token)).toMatchObject({ state: 'started', title: 'Renamed' })
})

test('the maker of a link counts as a starter of its runs where the starter may not decide', async () => {
  const decision = { actions: [{ id: 'approve', label: 'Approve' }], noSelfApproval: true }
  const workflowId = await workflow({ steps: [{ id: 'ok', type: 'request-user-action', ...decision }] })
  const { id, token } = await link(workflowId)
  await send(token)
  const runId = (await runsOf(workflowId))[0]?.id ?? ''
  await runtime.wait(runId, ({ status }) => status === 'paused')
  expect((await startersOf(runtime.ctx, runId)).sort()).toEqual([id, tess.userId].sort())
  const body = { type: 'request_user_action', actionId: 'approve' }
  expect(await outcome(resumeRun(tess.ctx, { runId, body }))).toBe('SELF_APPROVAL')
})

test('a large form that was not read starts nothing, and is never taken for another form', async () => {
  const workflowId = await workflow({ payload: {} })
  const { id, token } = await link(workflowId)
  const unread = () => outcome(startByLink(visitor(), { token, unread: true }))
  expect(await send(token, { formId: 'no-form-was-read', data: {} })).toMatchObject({ state: 'started' })
  // The link works again by now.
  expect(await unread()).toBe('UNAVAILABLE')
  await revokeStartLink(tess.ctx, { workflowId, linkId: id })
  expect(await unread()).toEqual({ state: 'revoked' })
  expect(await runsOf(workflowId)).toHaveLength(1)
})

test('over HTTP only a POST of the page starts a run, and only an open link has a large form read', async () => {
  const workflowId = await workflow()
  const { token } = await link(workflowId)
  const input = { token, formId: newForm(), data: { article: 'Van 7' } }
  const url = 'http://localhost:3000/api/trpc/auth.startByLink'
  const call = (method: string, body: object | null, headers: Record<string, string> = {}) =>
    handleTrpc(
      new Request(method === 'POST' ? url : `${url}?input=${encodeURIComponent(JSON.stringify(input))}`, {
        method,
        headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', ...headers },
        ...(body ? { body: JSON.stringify(body) } : {}),
      }),
    )
  for (const method of ['GET', 'HEAD']) expect((await call(method, null)).status).toBe(405)
  expect((await call('POST', input, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  expect(await runsOf(workflowId)).toEqual([])
  const base64 = Buffer.alloc(2_000_000, 'x').toString('base64')
  const large = { ...input, files: [{ part: 'papers', file: { name: 'a.txt', type: 'text/plain', base64 } }] }
  const length = { 'content-length': String(JSON.stringify(large).length) }
  const without = await call('POST', large, length)
  expect(await without.json()).toMatchObject({ result: { data: { state: 'unknown' } } })
  expect(await runsOf(workflowId)).toEqual([])
  const done = await call('POST', large, { ...length, 'x-start-link': token })
  expect(await done.json()).toMatchObject({ result: { data: { state: 'started' } } })
  expect(await runsOf(workflowId)).toHaveLength(1)
})
