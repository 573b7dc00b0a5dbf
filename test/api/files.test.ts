import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { files } from '@/db/schema/files'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { MAX_FILE_BYTES } from '@/server/http/multipart-input'
import { attachment, BOUNDARY, rawForm, text } from '../files/form'
import { type Api, type Caller, call, startApi } from '../support/api'
import { newTenant, withRole } from '../support/tenant'

let api: Api
let viewer: Caller
let stranger: Caller
let plain: string
let typed: string

beforeAll(async () => {
  api = await startApi()
  const other = await newTenant(api.database)
  const own = { ...withRole(other, 'owner'), tenantId: api.tenantId }
  viewer = { ...api, apiKey: (await createApiKey(own, { name: 'viewer', role: 'viewer' })).key }
  stranger = {
    url: api.url,
    tenantId: other.tenantId,
    apiKey: (await createApiKey(other, { name: 'x', role: 'owner' })).key,
  }
  plain = await workflow({})
  typed = await workflow({
    n: { type: 'integer' },
    flag: { type: 'boolean', required: false },
    tags: { type: 'array', required: false },
    document: { type: 'file', required: false },
  })
})

afterAll(async () => {
  await api?.stop()
})

async function workflow(payload: object): Promise<string> {
  const steps = [{ id: 'end', type: 'end-flow', name: 'End', output: { all: '${_}' } }]
  const { body } = await api.call('POST', '/api/workflows', { name: 'Files', initialStep: 'end', payload, steps })
  return body.id
}

async function start(form: FormData | Buffer, id: string, path = 'start') {
  const response = await fetch(`${api.url}/api/workflow/${path}/${id}`, {
    method: 'POST',
    headers: {
      'x-api-key': api.apiKey,
      ...(form instanceof FormData ? {} : { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }),
    },
    body: form instanceof FormData ? form : new Uint8Array(form),
  })
  return { status: response.status, body: await response.json() }
}

/** Sends in chunks without a length, and stops at the answer. */
async function startChunked(body: Buffer, id: string): Promise<{ status: number; body: string; sent: number }> {
  let sent = 0
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${api.url}/api/workflow/start/${id}`, {
      method: 'POST',
      headers: {
        'x-api-key': api.apiKey,
        'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
        'transfer-encoding': 'chunked',
      },
    })
    let answered = false
    request.on('response', async (response) => {
      answered = true
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString(), sent })
      request.destroy()
    })
    // After its answer the server may also close a connection it no longer reads.
    request.on('error', (err) => (answered ? undefined : reject(err)))
    void (async () => {
      for (let at = 0; at < body.length && !answered; at += 65_536) {
        sent = Math.min(at + 65_536, body.length)
        if (!request.write(body.subarray(at, sent))) {
          await Promise.race([new Promise((drained) => request.once('drain', drained)), sleep(2_000)])
        }
      }
      if (!answered) request.end()
    })()
  })
}

function formWith(content: Uint8Array | string, name: string, fields: Record<string, string> = {}): FormData {
  const form = new FormData()
  for (const [key, value] of Object.entries(fields)) form.append(key, value)
  form.append('attachment', new File([content as string], name))
  return form
}

const download = (id: string, caller: Caller = api) =>
  fetch(`${api.url}/api/files/${id}`, { headers: { 'x-api-key': caller.apiKey } })
const countFiles = async () => (await api.database.db.select().from(files)).length

describe('a multipart start', () => {
  test('converts the texts and returns the reference', async () => {
    const form = formWith('hello', 'a.txt', { n: '7', flag: 'true', tags: '["x"]', undeclared: 'y' })
    const { status, body } = await start(form, typed)
    expect(status).toBe(200)
    const { fileId } = body.data
    expect(body.data).toEqual({ n: 7, flag: true, tags: ['x'], document: fileId, fileId })
    expect(await (await download(fileId)).text()).toBe('hello')
  })

  test('start-async accepts the same form', async () => {
    const { status, body } = await start(formWith('async', 'a.txt', { data: '{"n":1}' }), typed, 'start-async')
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['runId'])
    const run = await api.call('GET', `/api/workflow/status/${body.runId}`)
    expect(await (await download(run.body.data.fileId)).text()).toBe('async')
  })

  test('accepts 3,932,160 bytes; one more is 413 and leaves nothing', async () => {
    const most = Buffer.alloc(MAX_FILE_BYTES, 'abcdefg')
    const { status, body } = await start(formWith(most, 'big.bin'), plain)
    expect(status).toBe(200)
    const response = await download(body.data.fileId)
    expect(Buffer.from(await response.arrayBuffer()).equals(most)).toBe(true)
    const before = await countFiles()
    const over = await start(formWith(Buffer.alloc(MAX_FILE_BYTES + 1), 'big.bin'), plain)
    expect(over).toMatchObject({ status: 413, body: { success: false, error: { code: 'FILE_TOO_LARGE' } } })
    expect(await countFiles()).toBe(before)
  })

  test('has the same limit for chunked bodies, which are not read to the end', async () => {
    const exact = await startChunked(rawForm([attachment(Buffer.alloc(MAX_FILE_BYTES))]), plain)
    expect(exact.status).toBe(200)
    const over = await startChunked(rawForm([attachment(Buffer.alloc(MAX_FILE_BYTES + 1))]), plain)
    expect(over.status).toBe(413)
    const endless = await startChunked(rawForm([attachment(Buffer.alloc(60_000_000))]), plain)
    expect(endless.status).toBe(413)
    expect(endless.body).toContain('FILE_TOO_LARGE')
    expect(endless.sent).toBeLessThan(40_000_000)
  })

  test.each<[string, () => Buffer]>([
    [
      'a file under another name',
      () => rawForm([{ ...attachment('x'), disposition: 'form-data; name="file"; filename="x"' }]),
    ],
    ['two attachments', () => rawForm([attachment('x'), attachment('y')])],
    ['a field of the wrong type', () => rawForm([text('n', 'seven'), attachment('x')])],
    ['garbage', () => Buffer.from('garbage')],
    ['an empty body', () => Buffer.alloc(0)],
    ['a truncated form', () => rawForm([text('n', '1'), attachment('x')]).subarray(0, -10)],
    ['50,000 parts', () => rawForm(Array.from({ length: 50_000 }, () => text('n', '1')))],
    ['a NUL in a name', () => rawForm([text('n', '1'), attachment('x', 'a\u0000b')])],
    ['headers without an end', () => rawForm([{ ...text('n', '1'), headers: [`X: ${'y'.repeat(9000)}`] }])],
    [
      'a broken filename*',
      () =>
        rawForm([
          text('n', '1'),
          { disposition: 'form-data; name="attachment"; filename*=UTF-8\'\'%e0%80', content: '' },
        ]),
    ],
  ])('%s: 400, and nothing is stored', async (_, body) => {
    const before = await countFiles()
    expect(await start(body(), typed)).toMatchObject({ status: 400, body: { error: { code: 'INVALID_INPUT' } } })
    expect(await countFiles()).toBe(before)
  })

  test('a sender that disconnects leaves nothing, and the service keeps working', async () => {
    const before = await countFiles()
    const { hostname, port } = new URL(api.url)
    const socket = connect(Number(port), hostname)
    const head = [
      `POST /api/workflow/start/${plain} HTTP/1.1`,
      `host: ${hostname}`,
      `x-api-key: ${api.apiKey}`,
      `content-type: multipart/form-data; boundary=${BOUNDARY}`,
      'content-length: 100000',
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    socket.write(rawForm([attachment('x')]).subarray(0, 60))
    await sleep(200)
    socket.destroy()
    await sleep(200)
    await expect.poll(countFiles).toBe(before)
    expect((await start(formWith('x', 'a'), plain)).status).toBe(200)
  })

  test('simultaneous uploads do not mix', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => start(formWith(`content ${n}`, `${n}`, { n: String(n) }), typed)),
    )
    for (const [n, { body }] of answers.entries()) {
      expect(body.data.n).toBe(n)
      expect(await (await download(body.data.fileId)).text()).toBe(`content ${n}`)
    }
  })

  test('a JSON body that looks like a parsed upload is plain data', async () => {
    const id = await workflow({ attachment: { type: 'any' } })
    const evil = { filepath: '/etc/passwd', originalFilename: 'x' }
    const { status, body } = await api.call('POST', `/api/workflow/start/${id}`, {
      attachment: evil,
      files: { attachment: evil },
      fileId: '../../etc/passwd',
    })
    expect(status).toBe(200)
    expect(body.data).toEqual({ attachment: evil })
  })

  test('other endpoints answer 415 to a form', async () => {
    const body = rawForm([text('name', 'x')]).toString()
    const headers = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
    for (const path of ['/api/workflows', '/api/workflow/resume/run_x', '/api/tools/tool_greet/invoke']) {
      expect((await api.call('POST', path, body, { headers })).status).toBe(415)
    }
  })

  test('the sample wf_document answers with the file’s content', async () => {
    const { status, body } = await start(formWith('naïve text', 'note.txt'), 'wf_document')
    expect(status).toBe(200)
    expect(body).toMatchObject({ status: 'completed', result: { name: 'note.txt', text: 'naïve text', size: 11 } })
    expect(body.result.fileId).toBe(body.data.fileId)
    const step = body.stepExecutionHistory[0]
    expect(step).toMatchObject({ stepId: 'read', inputData: { args: { fileId: body.data.fileId } } })
  })
})

describe('GET /api/files/:id', () => {
  test('is a download with a clean name, regardless of the type that the file claims', async () => {
    const form = new FormData()
    form.append('attachment', new File(['<svg onload="alert(1)"/>'], '../../x\r\ny: z".svg', { type: 'image/svg+xml' }))
    const { body } = await start(form, plain)
    const response = await download(body.data.fileId, viewer)
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="xy: z_.svg"; filename*=UTF-8''xy%3A%20z%22.svg`,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    })
    expect(response.headers.get('etag')).toMatch(/^"[0-9a-f]{64}"$/)
    expect(response.headers.has('y')).toBe(false)
    expect(await response.text()).toHaveLength(24)
  })

  test('another tenant’s id and any invalid id get the same 404', async () => {
    const { body } = await start(formWith('secret', 'a'), plain)
    const ask = async (id: string, caller?: Caller) => {
      const { status, body } = await call(caller ?? api, 'GET', `/api/files/${id}`)
      return { status, success: body.success, error: body.error }
    }
    const foreign = await ask(body.data.fileId, stranger)
    expect(foreign).toEqual({
      status: 404,
      success: false,
      error: { message: 'File not found', code: 'FILE_NOT_FOUND', details: [] },
    })
    for (const id of ['00000000-0000-4000-8000-000000000000', 'x', '..%2f..%2fetc%2fpasswd', '%00', 'run_1']) {
      expect(await ask(id)).toEqual(foreign)
    }
    const uses = await call(stranger, 'POST', '/api/tools/tool_read_file/invoke', {
      args: { fileId: body.data.fileId },
    })
    expect(uses.body).toMatchObject({ success: false, error: { message: 'File not found' } })
  })

  test('no credential: 401; another method: 405', async () => {
    expect((await fetch(`${api.url}/api/files/x`)).status).toBe(401)
    const { status, headers } = await api.call('PATCH', '/api/files/x')
    expect(status).toBe(405)
    expect(headers.get('allow')).toContain('GET')
  })
})
