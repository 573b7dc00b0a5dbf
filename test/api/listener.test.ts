import { rmSync } from 'node:fs'
import { connect } from 'node:net'
import { brotliDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROUTES } from '@/server/rest/routes'
import { setCorsOrigins } from '@/server/tenants/cors'
import { attachment, BOUNDARY, rawForm } from '../files/form'
import { TEST_ENV } from '../support/api'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type Answer, rawHttp } from '../support/raw-http'
import { startWeb, temporaryDir, type Web } from '../support/service'
import { newTenant, withRole } from '../support/tenant'

// Two web processes on one database: in one the API listener handles the API, in the other Next does. Callers see no
// difference.

const ORIGIN = 'https://app.example.com'
const REQUEST_ID = 'the-same-in-both'
const HOSTILE = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])

const home = temporaryDir()
let database: FreshDatabase
let direct: Web
let next: Web
/** Objects that exist, by the parameter that names them. */
let known: Record<string, string>
let paused: string

const ways = { direct: rawHttp(() => direct), next: rawHttp(() => next) }
type Options = Parameters<typeof ways.direct.send>[2]

beforeAll(async () => {
  database = await freshDatabase()
  // Both read each other's files.
  const env = { ...TEST_ENV, RATE_LIMIT_FAILURES: '100000', DATA_DIR: home }
  direct = await startWeb({ databaseUrl: database.url, env })
  const { tenantId, apiKey } = direct
  const through = { ...env, API_THROUGH_NEXT: '1' }
  next = await startWeb({ databaseUrl: database.url, tenantId, apiKey, env: through })
  const owner = { ...withRole(await newTenant(database), 'owner'), tenantId }
  await setCorsOrigins(owner, { origins: [ORIGIN] })
  const form = await upload('/api/workflow/start/wf_document')
  const { runId, data } = JSON.parse((await ways.direct.post('/api/workflow/start/wf_hello', '{"name":"Zoë"}')).text)
  expect(data).toMatchObject({ name: 'Zoë' })
  paused = JSON.parse((await ways.direct.post('/api/workflow/start/wf_order_approval', '{}')).text).runId
  const workflow = { id: 'wf_hello', workflowId: 'wf_hello' }
  known = { ...workflow, runId, agentId: 'agt_extract', toolId: 'tool_add', version: '1', fileId: form.data.fileId }
})
afterAll(async () => {
  await Promise.all([direct?.stop(), next?.stop()])
  await database?.close()
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
})

async function upload(path: string) {
  const body = rawForm([attachment(Buffer.from('some bytes: \xff'), 'größe.txt')])
  return JSON.parse((await ways.direct.post(path, body, formType())).text)
}

const formType = () => ({ 'content-type': `multipart/form-data; boundary=${BOUNDARY}` })

/** The framing of a body, and Next's additions for its own pages. */
const NOISE = ['date', 'content-length', 'transfer-encoding']
const NEXT_VARY = /^rsc, next-router-state-tree, next-router-prefetch, next-router-segment-prefetch(, |$)/

/** An answer without the parts that differ between any two, such as new ids and times. */
function comparable({ status, headers, bytes }: Answer) {
  const own = Object.entries(headers)
    .map(([name, value]) => [name, masked(name === 'vary' ? String(value).replace(NEXT_VARY, '') : String(value))])
    .filter(([name = '', value]) => value !== '' && !NOISE.includes(name))
  return { status, headers: Object.fromEntries(own), text: masked(bytes.toString('latin1')) }
}

function masked(text: string): string {
  return text
    .replace(/"(duration|durationMs|executionTime)":[\d.]+/g, '"$1":0')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<uuid>')
    .replace(/\b([a-z]{2,5})_[0-9A-HJKMNP-TV-Z]{26}\b/g, '$1_<id>')
}

/** Sends a request both ways and compares the responses. @returns the API listener's */
async function both(method: string, path: string, options: Options = {}): Promise<Answer> {
  const headers = { host: 'millrace.example.com', 'x-request-id': REQUEST_ID, ...options?.headers }
  const through = await ways.next.send(method, path, { ...options, headers })
  const ours = await ways.direct.send(method, path, { ...options, headers })
  expect(comparable(ours), `${method} ${path}`).toEqual(comparable(through))
  return ours
}

const urlOf = (folder: string, ids: (name: string) => string) =>
  folder.replace(/\[(\w+)\]/g, (_, name) => encodeURIComponent(ids(name)))
const existing = (folder: string) =>
  urlOf(folder, (name) => (folder.includes('/files/') ? known.fileId : known[name]) ?? '')
const missing = (folder: string) => urlOf(folder, () => 'nobody_1')
const json = (body: unknown): Options => {
  const text = JSON.stringify(body)
  return {
    body: text,
    headers: { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) },
  }
}

test('each of the two processes has its own way', async () => {
  const [ours, through] = await Promise.all([ways.direct, ways.next].map(({ send }) => send('GET', '/api/health')))
  expect([ours?.headers.vary, ours?.headers['content-length']]).toEqual([undefined, String(ours?.bytes.length)])
  expect([through?.headers.vary, through?.headers['content-length']]).toEqual([
    expect.stringMatching(NEXT_VARY),
    undefined,
  ])
})

test('only the listener sends the document of the API compressed', async () => {
  const [ours, through] = await Promise.all(
    [ways.direct, ways.next].map(({ send }) =>
      send('GET', '/api/openapi.json', { headers: { 'accept-encoding': 'br', host: 'millrace.example.com' } }),
    ),
  )
  expect([ours?.headers['content-encoding'], through?.headers['content-encoding']]).toEqual(['br', undefined])
  expect(brotliDecompressSync(ours?.bytes ?? '').toString()).toBe(through?.text)
})

describe.each(Object.keys(ROUTES))('%s', (folder) => {
  test('answers the same about existing objects', async () => {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'PATCH']) await both(method, existing(folder))
    const url = `${existing(folder)}?limit=1&offset=1&x=%ff&y=a+b%20c#fragment`
    const headers = { 'accept-encoding': 'gzip, deflate, br' }
    // Next leaves compression to the platform.
    if (folder !== '/api/openapi.json') await both('GET', url, { headers })
  })

  test('answers the same about missing ones, with any method and body', async () => {
    const path = missing(folder)
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      // The collection would accept it as a new object.
      if (method === 'POST' && /^\/api\/(workflows|agents|tools)$/.test(folder)) continue
      await both(method, path, method === 'GET' || method === 'HEAD' ? {} : json({ message: 'x' }))
      await both(method, path, { key: false })
    }
    await both('POST', path, { body: HOSTILE, headers: { 'content-type': 'application/json' } })
    await both('POST', path, { body: '{}', headers: { 'content-type': 'text/plain' } })
  })
})

test.each([
  ...[
    '/api',
    '/api/',
    '/api/nowhere',
    '/api/nowhere/',
    '/api/workflows/',
    '/api/workflows/?limit=1',
    '/api//workflows',
  ],
  ...['/api/workflows//wf_hello', '/api/%77orkflows', '/api/workflows/wf%5Fhello', '/api/workflows/a%2Fb'],
  ...[
    '/api/workflows/%2e%2e',
    '/api/workflows/..',
    '/api/workflows/./wf_hello',
    '/api/workflows/%5C',
    '/api/workflows/%00',
  ],
  ...['/api/workflows/index', '/api/health/index', '/api/health.json', '/api/health;x', '/api/health?'],
  ...['/api/workflows/wf_hello?nxtPid=other', '/api/workflows?_rsc=1&limit=1'],
  ...['/api/tools/mcp', '/api/tools/mcp/invoke', '/api/tools/mcp/list', '/api/workflows/__proto__'],
  ...[`/api/workflows/${'x'.repeat(3000)}`, '/api/workflows/wf_hello/versions/0', '/api/workflows?limit=1&limit=2'],
])('%s is answered the same', async (path) => {
  for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) await both(method, path)
})

test('a page of an allowed origin reads that its token is too large', async () => {
  const authorization = `Bearer ${'a'.repeat(20_000)}`
  for (const way of Object.values(ways)) {
    const readable = await way.send('POST', '/api/workflows', {
      key: false,
      headers: { origin: ORIGIN, authorization },
    })
    expect(readable).toMatchObject({ status: 431, headers: { 'access-control-allow-origin': ORIGIN, vary: 'Origin' } })
    const origin = 'https://elsewhere.example.com'
    const hidden = await way.send('POST', '/api/workflows', { key: false, headers: { origin, authorization } })
    expect([hidden.status, hidden.headers['access-control-allow-origin']]).toEqual([431, undefined])
  }
})

test.each<[string, Record<string, string | string[]>]>([
  ['a preflight', { origin: ORIGIN, 'access-control-request-method': 'POST' }],
  ['a preflight from elsewhere', { origin: 'https://elsewhere.example.com', 'access-control-request-method': 'POST' }],
  ['headers of proxies', { 'x-forwarded-for': '1.2.3.4', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil' }],
  [
    'headers of Next',
    { rsc: '1', 'next-action': 'x', 'x-nextjs-data': '1', 'x-middleware-rewrite': '/', 'x-matched-path': '/' },
  ],
  ['a header twice', { accept: ['application/json', 'text/html'], 'x-tenant-id': ['a', 'b'] }],
  ['a header in Latin-1', { 'x-note': 'é' }],
  ['another host', { host: 'evil.example.com' }],
])('%s is answered the same', async (_, headers) => {
  for (const method of ['GET', 'OPTIONS']) {
    for (const path of ['/api/workflows', '/api/openapi.json']) await both(method, path, { headers })
  }
})

describe('bodies', () => {
  const start = '/api/workflow/start/wf_hello'
  test.each<[string, string | Buffer | Buffer[], Record<string, string>]>([
    ['a good one', '{"name":"Zoë"}', {}],
    ['none', '', {}],
    ['one in chunks', [Buffer.from('{"name"'), Buffer.from(':"Zo\u00eb"}')], {}],
    ['one that is too large', `{"name":"${'a'.repeat(1024 * 1024)}"}`, {}],
    // Next never reads the rest, so its connection cannot be used again.
    ['one that is too large, in chunks', Array(20).fill(Buffer.alloc(100_000, 97)), { connection: 'close' }],
    ['a form', rawForm([attachment('text')]), formType()],
    ['a form with a file that is too large', rawForm([attachment(Buffer.alloc(4_000_000))]), formType()],
    ['a form without an end', rawForm([attachment('text')]).subarray(0, 50), formType()],
  ])('%s is answered the same', async (_, body, headers) => {
    const length = Array.isArray(body) ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const path = headers['content-type'] ? '/api/workflow/start/wf_document' : start
    const type = { 'content-type': 'application/json' }
    await both('POST', path, { body, headers: { ...type, ...length, ...headers } })
  })

  test('created objects are answered the same', async () => {
    const end = { id: 'end', type: 'end-flow', output: {} }
    await both('POST', '/api/workflows', json({ name: 'Made', steps: [end] }))
    await both('POST', '/api/workflow/start-async/wf_hello', json({ name: 'x' }))
    await both('POST', '/api/tools/tool_add/invoke', json({ args: { a: 1, b: 2 } }))
    await both('POST', '/api/workflow/start/wf_order_approval', json({}))
  })

  test('an answer kept for a key of one is repeated by the other', async () => {
    const { body, headers } = json({ name: 'x' }) ?? {}
    const keyed = { ...headers, 'idempotency-key': 'once' }
    const first = await ways.next.send('POST', start, { body: body as string, headers: keyed })
    const again = await ways.direct.send('POST', start, { body: body as string, headers: keyed })
    expect([again.status, again.text, again.headers['idempotent-replayed']]).toEqual([200, first.text, 'true'])
  })

  test('a file comes back byte by byte', async () => {
    const file = await both('GET', `/api/files/${known.fileId}`, { headers: { 'accept-encoding': 'gzip' } })
    expect(file.bytes).toEqual(Buffer.from('some bytes: \xff'))
  })

  test('one that nobody reads does not spoil the next request of its connection', async () => {
    const size = 200_000
    const refused = `POST ${start} HTTP/1.1\r\nhost: x\r\ncontent-length: ${size}\r\n\r\n${'a'.repeat(size)}`
    const asked = 'GET /api/nowhere HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'
    for (const { sendRaw } of Object.values(ways)) {
      const statuses = (await sendRaw(refused + asked)).match(/HTTP\/1\.1 \d+/g)
      expect(statuses).toEqual(['HTTP/1.1 401', 'HTTP/1.1 404'])
    }
  })
})

describe('event streams', () => {
  test('of a run that has ended are the same to the last byte', async () => {
    const { text } = await both('GET', `/api/workflow/events/${known.runId}`)
    expect(text).toMatch(/^retry: 2000\n\n[\s\S]*event: end\n/)
    await both('HEAD', `/api/workflow/events/${known.runId}`)
  })

  test('of a run that waits begin the same, at once', async () => {
    const [ours, through] = await Promise.all([direct, next].map((web) => beginning(web)))
    // The size of the first chunk varies, so compare up to the end of the run's first event.
    const frames = (text = '') =>
      /retry: [\s\S]*?event: run\n[\s\S]*?\n\n/.exec(text.replace(/\r\n[0-9a-f]+\r\n/g, ''))?.[0]
    expect(frames(ours)).toMatch(/^retry: 2000\n\n[\s\S]*paused/)
    expect(frames(ours)).toBe(frames(through))
  })
})

// The last test: it ends both processes.
test.each(['direct', 'next'] as const)(
  'a request that is open when the service stops is answered (%s)',
  async (which) => {
    const web = { direct, next }[which]
    const { hostname, port } = new URL(web.url)
    await beginning(web, false)
    const body = JSON.stringify({ name: 'Late', steps: [{ id: 'end', type: 'end-flow', output: {} }] })
    const socket = connect(Number(port), hostname)
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
    const head = `POST /api/workflows HTTP/1.1\r\nhost: x\r\nx-api-key: ${web.apiKey}\r\ncontent-type: application/json`
    socket.write(`${head}\r\nexpect: 100-continue\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 10)}`)
    await expect.poll(() => text).toMatch(/^HTTP\/1\.1 100 /)
    web.kill('SIGTERM')
    // Once it accepts no more connections, it is stopping.
    await expect
      .poll(() =>
        fetch(web.url).then(
          () => 'open',
          () => 'closed',
        ),
      )
      .toBe('closed')
    socket.write(body.slice(10))
    await expect.poll(() => text).toMatch(/HTTP\/1\.1 201 [\s\S]*"name":"Late"/)
    // The event stream that is still open does not hold it open.
    expect(await web.exited).toBe(0)
  },
)

/** The stream of the paused run up to the pause's event. @param leave false to stay on the stream */
function beginning({ url, apiKey }: Web, leave = true): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((done, fail) => {
    let text = ''
    const socket = connect(Number(port), hostname, () => {
      socket.write(`GET /api/workflow/events/${paused} HTTP/1.1\r\nhost: x\r\nx-api-key: ${apiKey}\r\n\r\n`)
    })
    socket.once('error', fail)
    setTimeout(() => socket.destroy(new Error(`nothing more came after ${text}`)), 20_000).unref()
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
      if (!/event: run\n[\s\S]*paused[\s\S]*\n\n/.test(text)) return
      if (leave) socket.destroy()
      done(text)
    })
  })
}
