import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { files } from '@/db/schema/files'
import { runs } from '@/db/schema/runs'
import type { ServiceContext } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { MAX_FILE_BYTES } from '@/server/http/multipart-input'
import type { RouteHandler } from '@/server/rest/route'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { attachment, chunked, formRequest, type RawPart, rawForm, text } from './form'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

let database: FreshDatabase
let product: TestRuntime
let dataDir: string
const keys: Record<string, string> = {}
const END = { id: 'end', type: 'end-flow' }

beforeAll(async () => {
  database = await freshDatabase()
  dataDir = mkdtempSync(join(tmpdir(), 'millrace-files-'))
  product = await startTestRuntime(database.url, { DATA_DIR: dataDir })
  const other = await product.as('owner', 'ten_other')
  for (const [name, ctx, role] of [
    ['operator', product.ctx, 'operator'],
    ['viewer', product.ctx, 'viewer'],
    ['foreign', other, 'owner'],
  ] as const) {
    keys[name] = (await createApiKey(ctx, { name, role })).key
  }
})

afterAll(async () => {
  await product?.stop()
  await database?.close()
  rmSync(dataDir, { recursive: true, force: true })
})

beforeEach(async () => {
  await database.db.delete(files)
  rmSync(join(dataDir, 'files'), { recursive: true, force: true })
})

async function workflow(payload: object, ctx: ServiceContext = product.ctx): Promise<string> {
  const { createWorkflow } = await import('@/server/workflows/lifecycle')
  const steps = [{ id: 'end', type: 'end-flow', name: 'End', output: { all: '${_}' } }]
  const { id } = await createWorkflow(ctx, { name: 'Files', initialStep: 'end', payload, steps, edges: [] } as never)
  return id
}

interface Answer {
  status: number
  headers: Headers
  body: {
    runId: string
    result: unknown
    data: Record<string, unknown>
    error: { code: string; details: { path?: string }[] }
  }
}

async function call(handler: RouteHandler, request: Request, params: Record<string, string>, key = 'operator') {
  request.headers.set('x-api-key', keys[key] ?? '')
  return handler(request, { params: Promise.resolve(params) })
}

async function post(request: Request, workflowId: string, kind: 'start' | 'start-async' = 'start'): Promise<Answer> {
  const { POST } =
    kind === 'start'
      ? await import('@/app/api/workflow/start/[workflowId]/route')
      : await import('@/app/api/workflow/start-async/[workflowId]/route')
  const response = await call(POST, request, { workflowId })
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer['body'] }
}

const start = (parts: RawPart[], workflowId: string, kind?: 'start' | 'start-async') =>
  post(formRequest(rawForm(parts)), workflowId, kind)

async function download(id: string, key?: string): Promise<Response> {
  const { GET } = await import('@/app/api/files/[id]/route')
  return call(GET, new Request(`http://test.invalid/api/files/${encodeURIComponent(id)}`), { id }, key)
}

function stored(tenantId = 'ten_test'): string[] {
  const folder = join(dataDir, 'files', tenantId)
  return existsSync(folder) ? readdirSync(folder) : []
}

const countRuns = async () => (await database.db.select().from(runs)).length

describe.each(['start', 'start-async'] as const)('POST /api/workflow/%s with a form', (kind) => {
  test('stores the attachment and passes its reference to the run', async () => {
    const id = await workflow({ title: { type: 'string' }, document: { type: 'file' } })
    const content = Buffer.from('hello')
    const { status, body } = await start([text('title', 'T'), attachment(content), text('ignored', 'x')], id, kind)
    expect(status).toBe(200)
    const run = await product.wait(body.runId)
    const { fileId } = run.data as { fileId: string }
    expect(fileId).toMatch(UUID)
    expect(run.data).toMatchObject({ title: 'T', document: fileId })
    expect(run.data).not.toHaveProperty('ignored')
    expect(run.data).not.toHaveProperty('attachment')
    expect(stored()).toEqual([fileId])
    const [row] = await database.db.select().from(files).where(eq(files.id, fileId))
    expect(row).toMatchObject({ tenantId: 'ten_test', runId: run.runId, name: 'a.txt', size: 5 })
    expect(row?.claimedAt).toBeInstanceOf(Date)
  })

  test('a form without a file is plain input', async () => {
    const id = await workflow({ n: { type: 'number' } })
    const { status, body } = await start([text('n', '4.5')], id, kind)
    expect(status).toBe(200)
    expect((await product.wait(body.runId)).data).toMatchObject({ n: 4.5 })
    expect(stored()).toEqual([])
  })
})

test('a run runs again with its file, or with another one', async () => {
  const id = await workflow({ title: { type: 'string' }, document: { type: 'file' } })
  const { body } = await start([text('title', 'T'), attachment('first')], id)
  const { rerunRun } = await import('@/server/runs/rerun')
  const { rerunWithFiles } = await import('@/server/runs/with-files')
  const old = (await product.wait(body.runId)).data as { document: string; fileId: string }
  const same = await rerunRun(product.ctx, {
    runId: body.runId,
    body: { data: { title: 'U', document: old.document } },
  })
  expect((await product.wait(same.runId)).data).toMatchObject({ title: 'U', document: old.fileId, fileId: old.fileId })
  const file = { name: 'b.txt', type: 'text/plain', base64: Buffer.from('second').toString('base64') }
  const sent = [{ part: 'attachment', file }]
  const { runId } = await rerunWithFiles(product.ctx, { runId: body.runId, data: { title: 'V' }, files: sent })
  const { document, fileId } = (await product.wait(runId)).data as typeof old
  expect(document).toBe(fileId)
  expect(fileId).not.toBe(old.fileId)
  const [row] = await database.db.select().from(files).where(eq(files.id, fileId))
  expect(row).toMatchObject({ runId, name: 'b.txt', size: 6 })
  // A refused start leaves no file behind.
  await expect(rerunWithFiles(product.ctx, { runId, data: {}, files: sent })).rejects.toMatchObject({
    code: 'INVALID_INPUT',
  })
  expect(stored().sort()).toEqual([old.fileId, fileId].sort())
})

describe('a rejected start leaves behind', () => {
  const cases: [string, number, string, (id: string) => Promise<Answer>][] = [
    [
      'a file of one byte too many',
      413,
      'FILE_TOO_LARGE',
      (id) => start([attachment(new Uint8Array(MAX_FILE_BYTES + 1))], id),
    ],
    [
      'a chunked form that does not end',
      413,
      'FILE_TOO_LARGE',
      (id) => post(formRequest(chunked(rawForm([attachment(new Uint8Array(9_000_000))])).body), id),
    ],
    ['a missing field', 400, 'INVALID_INPUT', (id) => start([attachment('x')], id)],
    ['a field of the wrong type', 400, 'INVALID_INPUT', (id) => start([text('n', 'four'), attachment('x')], id)],
    [
      'a file under another name',
      400,
      'INVALID_INPUT',
      (id) => start([text('n', '1'), { ...attachment('x'), disposition: 'form-data; name="file"; filename="x"' }], id),
    ],
    ['two attachments', 400, 'INVALID_INPUT', (id) => start([text('n', '1'), attachment('x'), attachment('y')], id)],
    ['an unknown workflow', 404, 'WORKFLOW_NOT_FOUND', () => start([text('n', '1'), attachment('x')], 'wf_none')],
  ]
  test.each(cases)('%s: nothing', async (_, status, code, send) => {
    const id = await workflow({ n: { type: 'integer' } })
    const before = await countRuns()
    const answer = await send(id)
    expect(answer.status).toBe(status)
    expect(answer.body.error.code).toBe(code)
    expect(await database.db.select().from(files)).toEqual([])
    expect(stored()).toEqual([])
    expect(await countRuns()).toBe(before)
  })

  test('a storage that cannot write: 503, no run, and a row that the sweep removes', async () => {
    const id = await workflow({})
    const before = await countRuns()
    // A file where the folder should be.
    writeFileSync(join(dataDir, 'files'), '')
    const { status } = await start([attachment('x')], id)
    expect(status).toBe(503)
    expect(await countRuns()).toBe(before)
    rmSync(join(dataDir, 'files'))
    const { sweepFiles } = await import('@/server/files/sweep')
    await sweepFiles({ db: database.db, log: product.ctx.log, now: () => new Date() })
    expect(await database.db.select().from(files)).toEqual([])
  })

  test('a role that may not start is refused before anything is stored', async () => {
    const id = await workflow({})
    const { POST } = await import('@/app/api/workflow/start/[workflowId]/route')
    const response = await call(POST, formRequest(rawForm([attachment('x')])), { workflowId: id }, 'viewer')
    expect(response.status).toBe(403)
    expect(stored()).toEqual([])
  })
})

test('the largest allowed file is stored completely', async () => {
  const id = await workflow({})
  const content = Buffer.alloc(MAX_FILE_BYTES, 'abc')
  const { body } = await start([attachment(content)], id)
  const response = await download(body.data.fileId as string)
  expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true)
})

test('simultaneous uploads do not mix', async () => {
  const id = await workflow({ n: { type: 'integer' } })
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) => start([text('n', String(n)), attachment(`content ${n}`, `${n}.txt`)], id)),
  )
  for (const [n, { body }] of answers.entries()) {
    expect(body.data.n).toBe(n)
    expect(await (await download(body.data.fileId as string)).text()).toBe(`content ${n}`)
  }
  expect(stored()).toHaveLength(12)
})

test('a JSON body that looks like a parsed upload is plain data, and no file is read', async () => {
  const id = await workflow({ attachment: { type: 'object' }, files: { type: 'any', required: false } })
  const evil = { filepath: '/etc/passwd', filename: 'passwd', size: 1 }
  const request = new Request('http://test.invalid/', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ attachment: evil, files: { attachment: evil }, fileId: '../../etc/passwd' }),
  })
  const { status, body } = await post(request, id)
  expect(status).toBe(200)
  expect(body.data).toMatchObject({ attachment: evil, files: { attachment: evil } })
  expect(body.data).not.toHaveProperty('fileId')
  expect(await database.db.select().from(files)).toEqual([])
})

test('a form is accepted nowhere else', async () => {
  const { POST } = await import('@/app/api/workflow/resume/[runId]/route')
  const response = await call(POST, formRequest(rawForm([text('type', 'collect_inputs')])), { runId: 'run_x' })
  expect(response.status).toBe(415)
  const json = formRequest(rawForm([]), { headers: { 'content-type': 'multipart/mixed; boundary=x' } })
  expect((await post(json, await workflow({}))).status).toBe(415)
})

describe('GET /api/files/:id', () => {
  async function upload(part: RawPart): Promise<string> {
    return (await start([part], await workflow({}))).body.data.fileId as string
  }

  test('is a download that browsers do not display', async () => {
    const id = await upload(attachment('<script>alert(1)</script>', '../../etc/pass%22wd%0Aä.html', 'text/html'))
    const response = await download(id, 'viewer')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/octet-stream')
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename="pass_wd_.html"; filename*=UTF-8''pass%22wd%C3%A4.html`,
    )
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('content-security-policy')).toContain('sandbox')
    expect(response.headers.get('content-length')).toBe('25')
    expect(response.headers.get('etag')).toMatch(/^"[0-9a-f]{64}"$/)
    expect(await response.text()).toBe('<script>alert(1)</script>')
  })

  test('unknown, malformed and other tenants’ ids look the same', async () => {
    const id = await upload(attachment('secret'))
    const missing = await Promise.all([
      download('00000000-0000-4000-8000-000000000000'),
      download(id, 'foreign'),
      download('../../etc/passwd'),
      download('x'.repeat(5000)),
      download('%00'),
    ])
    const bodies = await Promise.all(missing.map((response) => response.text()))
    expect(missing.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404])
    const same = bodies.map((body) => body.replace(/"requestId":"[^"]*"/, ''))
    expect(new Set(same).size).toBe(1)
    expect(same[0]).toContain('FILE_NOT_FOUND')
  })

  test('a file is deleted with its run', async () => {
    const id = await upload(attachment('x'))
    await database.db.delete(runs)
    expect((await download(id)).status).toBe(404)
  })
})

test('the sample wf_document answers with the file’s content', async () => {
  const { loadSamples } = await import('@/server/tenants/boot/seed')
  const { withTransaction } = await import('@/server/context')
  await withTransaction(product.ctx, loadSamples)
  const { status, body } = await start([attachment('naïve text', 'note.txt')], 'wf_document')
  expect(status).toBe(200)
  expect(body.result).toMatchObject({ name: 'note.txt', size: 11, text: 'naïve text', fileId: body.data.fileId })
  expect((await start([text('x', 'y')], 'wf_document')).body.error.details).toMatchObject([{ path: 'fileId' }])
})

describe('several files', () => {
  const payload = {
    cover: { type: 'file' },
    receipts: { type: 'array', items: { type: 'file' } },
    more: { type: 'file', required: false },
  }
  const named = (name: string, content: string, filename: string) => ({
    disposition: `form-data; name="${name}"; filename="${filename}"`,
    content,
  })

  test('of a form belong to the run, each as the value of its field', async () => {
    const id = await workflow(payload)
    const parts = [
      named('receipts', 'one', '1.txt'),
      named('cover', 'front', 'c.txt'),
      named('receipts', 'two', '2.txt'),
    ]
    const { status, body } = await start(parts, id)
    expect(status).toBe(200)
    const rows = await database.db.select().from(files)
    const idOf = (name: string) => rows.find((row) => row.name === name)?.id
    expect(rows.map(({ runId }) => runId)).toEqual([body.runId, body.runId, body.runId])
    const { data } = await product.wait(body.runId)
    expect(data).toEqual({ cover: idOf('c.txt'), receipts: [idOf('1.txt'), idOf('2.txt')] })
    expect(stored().sort()).toEqual(rows.map((row) => row.id).sort())
  })

  test('of a refused form leave nothing behind', async () => {
    const id = await workflow(payload)
    const { status, body } = await start([named('cover', 'a', 'a'), named('photo', 'b', 'b')], id)
    expect(status).toBe(400)
    expect(body.error.details.map(({ path }) => path).sort()).toEqual(['photo', 'receipts'])
    expect(await database.db.select().from(files)).toEqual([])
    expect(stored()).toEqual([])
  })

  test('that are named must be stored, all of them', async () => {
    const id = await workflow(payload)
    const { body } = await start([named('receipts', 'one', '1.txt'), named('cover', 'front', 'c.txt')], id)
    const { cover } = (await product.wait(body.runId)).data as { cover: string }
    const again = await product.start({ payload, steps: [END] }, { cover, receipts: [cover, cover.toUpperCase()] })
    expect((await product.wait(again)).status).toBe('completed')
    const unknown = '00000000-0000-4000-8000-000000000000'
    await expect(product.start({ payload, steps: [END] }, { cover, receipts: [cover, unknown] })).rejects.toMatchObject(
      {
        details: [{ path: 'receipts' }],
      },
    )
  })
})

describe('a file chosen in the dashboard', () => {
  const base64 = (value: string | Buffer) => Buffer.from(value).toString('base64')
  const start = async (payload: object, data: object, file: unknown, part = 'attachment') => {
    const { startWithFiles } = await import('@/server/runs/with-files')
    const workflowId = await workflow(payload)
    return startWithFiles(product.ctx, { workflowId, data: data as never, files: [{ part, file }] })
  }

  test('is given to the run like that of a form, together with values of other types', async () => {
    const payload = { paper: { type: 'file' }, n: { type: 'number' }, more: { type: 'object' } }
    const file = { name: 'a.txt', type: 'text/plain', base64: base64('hello') }
    const { runId } = await start(payload, { n: 7, more: { a: [1] } }, file)
    const { data } = await product.wait(runId)
    expect(data).toMatchObject({ n: 7, more: { a: [1] }, paper: expect.stringMatching(UUID) })
    const [stored] = await database.db.select().from(files)
    expect(stored).toMatchObject({ runId, name: 'a.txt', size: 5 })
    const named = await start({ data: { type: 'object' }, paper: { type: 'file' } }, { data: { b: 2 } }, file)
    expect((await product.wait(named.runId)).data).toMatchObject({ data: { b: 2 } })
  })

  test.each([
    ['too large', 'FILE_TOO_LARGE', { name: 'a', type: '', base64: base64(Buffer.alloc(MAX_FILE_BYTES + 1)) }],
    ['not base64', 'INVALID_INPUT', { name: 'a', type: '', base64: '%%%' }],
    ['without a name', 'INVALID_INPUT', { name: '', type: '', base64: '' }],
    ['not an object', 'INVALID_INPUT', 'a.txt'],
  ])('that is %s is refused, and leaves nothing behind', async (_what, code, file) => {
    await expect(start({ paper: { type: 'file' } }, {}, file)).rejects.toMatchObject({ code })
    expect(await database.db.select().from(files)).toEqual([])
  })
})
