import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ServiceContext } from '@/server/context'
import type { OpenApiDocument } from '@/server/openapi/types'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'
import { callProcedure, errorIn, newVisitor, type Visitor } from './support'

vi.hoisted(() => {
  Object.assign(process.env, { ENCRYPTION_KEY: 'ab'.repeat(32), LOG_LEVEL: 'silent', MILLRACE_EMBEDDED: '1' })
})

let database: FreshDatabase
let ctx: ServiceContext
let editor: Visitor
let viewer: Visitor
let stranger: Visitor
let workflow: string

beforeAll(async () => {
  database = await freshDatabase()
  process.env.DATABASE_URL = database.url
  ctx = await newTenant(database)
  editor = await newVisitor(ctx, 'editor')
  viewer = await newVisitor(ctx, 'viewer')
  stranger = await newVisitor(await newTenant(database), 'owner')
  const payload = { item: { type: 'string' } }
  const steps = [{ id: 'end', type: 'end-flow' }]
  workflow = (await createWorkflow(ctx, { name: 'Order', payload, steps })).id
  await publishWorkflow(ctx, { id: workflow })
})
afterAll(() => database.close())

const dataOf = async (visitor: Visitor, name: string, input: object) => {
  const { status, text } = await callProcedure(visitor, name, input)
  expect(status, text).toBe(200)
  return JSON.parse(text).result.data
}
const sent = (visitor: Visitor, call: object) => dataOf(visitor, 'reference.send', call)

describe('the reference of a workspace', () => {
  test('has everything that the workspace has published, and nothing of another one', async () => {
    expect((await dataOf(viewer, 'reference.open', {})).objects).toEqual([
      { word: 'workflow', id: workflow, name: 'Order' },
    ])
    expect((await dataOf(stranger, 'reference.open', {})).objects).toEqual([])
    const theirs = await callProcedure(stranger, 'reference.read', { id: workflow })
    expect([theirs.status, errorIn(theirs.text).code]).toEqual([404, 'NOT_FOUND'])
  })

  test('shows a call with all that it refers to, and nothing else', async () => {
    for (const [id, calls] of [
      [workflow, [`/api/workflow/start/${workflow}`, `/api/workflow/start-async/${workflow}`]],
      ['startWorkflow', ['/api/workflow/start/{workflowId}']],
      ['createWorkflow', ['/api/workflows']],
    ] as const) {
      const document = JSON.parse((await dataOf(viewer, 'reference.read', { id })).document) as OpenApiDocument
      expect(Object.keys(document.paths)).toEqual(expect.arrayContaining([...calls]))
      const { schemas } = document.components
      const named = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name)
      expect(named.filter((name) => !Object.hasOwn(schemas, name ?? ''))).toEqual([])
      expect(Object.keys(schemas).filter((name) => !named.includes(name))).toEqual([])
    }
  })
})

describe('a call that is tried', () => {
  test('is made by the signed-in person, and shows a program’s response', async () => {
    const answer = await sent(editor, { method: 'PUT', path: `/api/workflows/${workflow}`, body: '{"name":"Renamed"}' })
    expect(answer).toMatchObject({ status: 200, cut: null })
    expect(JSON.parse(answer.text)).toMatchObject({ id: workflow, name: 'Renamed', updatedBy: editor.userId })
    expect(Object.fromEntries(answer.headers)).toMatchObject({ etag: '"2"' })
    const [entry] = await database.sql`
      select action, actor_id from audit_entries where tenant_id = ${ctx.tenantId} order by seq desc limit 1`
    expect(entry).toMatchObject({ action: 'workflow.saved', actor_id: editor.userId })
  })

  test('sends a file as a form does, and headers as they are filled in', async () => {
    const payload = { attachment: { type: 'file' as const }, pages: { type: 'number' as const } }
    const steps = [{ id: 'end', type: 'end-flow', output: { pages: '${pages}' } }]
    const { id } = await createWorkflow(ctx, { name: 'Document', payload, steps })
    await publishWorkflow(ctx, { id })
    const call = {
      ...{ method: 'POST', path: `/api/workflow/start/${id}`, body: '{"pages":3}' },
      headers: { 'idempotency-key': 'once', prefer: 'wait=1' },
      file: { name: 'café.txt', type: 'text/plain', base64: Buffer.from('hello').toString('base64') },
    }
    const first = await sent(editor, call)
    const run = JSON.parse(first.text)
    const file = run.data.attachment
    expect(run.data, first.text).toEqual({ pages: 3, attachment: file, fileId: file })
    const [stored] = await database.sql`select name, size from files where id = ${file}`
    expect(stored).toMatchObject({ name: 'café.txt', size: 5 })
    const again = await sent(editor, call)
    expect(Object.fromEntries(again.headers)['idempotent-replayed']).toBe('true')
    expect(JSON.parse(again.text).runId).toBe(run.runId)
    // More than any other call may send.
    const large = { ...call, headers: { prefer: 'wait=1' }, file: { ...call.file, base64: 'AAAA'.repeat(800_000) } }
    expect((await sent(editor, large)).status).toBe(202)
    const odd = await callProcedure(editor, 'reference.send', { ...call, headers: { prefer: 'a\nb' } })
    expect(odd.status).toBe(400)
  })

  test('has the rights of their role, in their workspace only', async () => {
    const publish = { method: 'POST', path: `/api/workflows/${workflow}/publish` }
    expect((await sent(viewer, publish)).status).toBe(403)
    const read = { method: 'GET', path: `/api/workflows/${workflow}` }
    expect((await sent(viewer, read)).status).toBe(200)
    expect((await sent(stranger, read)).status).toBe(404)
    // A header that a page sends along cannot grant access to another workspace.
    expect((await sent(stranger, { ...read, headers: { 'x-tenant-id': ctx.tenantId } })).status).toBe(404)
  })

  test.each([
    '/api/trpc/workflows.list',
    '/api/auth/session',
    '/api/inngest',
    '/api/../reference',
    '/api//workflows',
    '/api/nothing',
  ])('cannot be %s', async (path) => {
    const { status, text } = await callProcedure(editor, 'reference.send', { method: 'GET', path })
    expect([status, errorIn(text).code], text).toEqual([404, 'NOT_FOUND'])
  })

  test.each(['//evil.example.com/api/x', 'https://evil.example.com/api/x', 'reference'])(
    'leaves the service for nothing: %s',
    async (path) => {
      const { status } = await callProcedure(editor, 'reference.send', { method: 'GET', path })
      expect(status).toBe(400)
    },
  )
})
