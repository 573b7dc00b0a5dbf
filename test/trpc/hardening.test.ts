import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { forEachAtOnce } from '@/lib/for-each-at-once'
import type { ServiceContext } from '@/server/context'
import { handleTrpc } from '@/server/trpc/handler'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { fingerprint } from '../support/fingerprint'
import { sampled } from '../support/sample.mjs'
import { newTenant } from '../support/tenant'
import { CASES, caseOf, KINDS } from './procedures'
import {
  type Answer,
  callBatch,
  callProcedure,
  errorIn,
  newVisitor,
  ORIGIN,
  type Sent,
  send,
  type Visitor,
} from './support'

vi.hoisted(() => {
  Object.assign(process.env, { ENCRYPTION_KEY: 'ab'.repeat(32), LOG_LEVEL: 'silent', MILLRACE_EMBEDDED: '1' })
})

let database: FreshDatabase
let ctx: ServiceContext
let owner: Visitor
let workflowId: string

beforeAll(async () => {
  database = await freshDatabase()
  process.env.DATABASE_URL = database.url
  ctx = await newTenant(database)
  owner = await newVisitor(ctx, 'owner')
  workflowId = (await createWorkflow(ctx, { name: 'Mine' })).id
})
afterAll(() => database.close())

const INSIDE = /node_modules|postgres|drizzle|\bat \w+ \(|select |insert into|"stack"/i
const FORM = 'application/x-www-form-urlencoded'
const NO_ROOM = 'Other large answers are being read'

describe('another site', () => {
  const archive = (): Sent => ({ path: 'workflows.archive', body: JSON.stringify({ id: workflowId }) })
  const listed = (more: Sent): Sent => ({ path: 'workflows.list', body: '{}', ...more })
  const elsewhere = 'https://evil.example.com'

  const refused: [string, number, () => Sent][] = [
    ['fetches from it', 403, () => ({ ...archive(), headers: { 'sec-fetch-site': 'cross-site', origin: elsewhere } })],
    ['a subdomain of ours', 403, () => ({ ...archive(), headers: { 'sec-fetch-site': 'same-site' } })],
    ['a typed address or a bookmark', 403, () => ({ ...archive(), headers: { 'sec-fetch-site': 'none' } })],
    [
      'a browser that tells only the origin',
      403,
      () => ({ ...archive(), headers: { 'sec-fetch-site': '', origin: elsewhere } }),
    ],
    ['a page without an origin', 403, () => ({ ...archive(), headers: { 'sec-fetch-site': '', origin: 'null' } })],
    ['a client that tells nothing', 403, () => ({ ...archive(), headers: { 'sec-fetch-site': '' } })],
    [
      'another port of this machine',
      403,
      () => ({ ...archive(), headers: { 'sec-fetch-site': '', origin: 'http://localhost:1' } }),
    ],
    [
      'a page that brings a forged host',
      403,
      () => ({
        ...archive(),
        headers: { 'sec-fetch-site': '', origin: elsewhere, 'x-forwarded-host': new URL(elsewhere).host },
      }),
    ],
    ['a form with text', 415, () => ({ ...archive(), headers: { 'content-type': 'text/plain' } })],
    ['a form', 415, () => ({ ...archive(), headers: { 'content-type': FORM } })],
    [
      'a form with files',
      415,
      () => ({ ...archive(), headers: { 'content-type': 'multipart/form-data; boundary=x' } }),
    ],
    ['a body of no type', 415, () => ({ ...archive(), headers: { 'content-type': '' } })],
    ['a type that only looks like JSON', 415, () => ({ ...archive(), headers: { 'content-type': 'text/json' } })],
    ['a link', 405, () => ({ method: 'GET', path: 'workflows.archive', query: { input: archive().body ?? '' } })],
    [
      'a link that says it is a stream',
      405,
      () => ({
        method: 'GET',
        path: 'workflows.archive',
        query: { input: archive().body ?? '' },
        headers: { accept: 'text/event-stream' },
      }),
    ],
    ['a link that only reads', 405, () => ({ method: 'GET', path: 'workflows.list', query: { input: '{}' } })],
    ['PUT', 405, () => ({ ...archive(), method: 'PUT' })],
    ['DELETE', 405, () => ({ ...archive(), method: 'DELETE' })],
    ['PATCH', 405, () => ({ ...archive(), method: 'PATCH' })],
  ]

  test.each(refused)('changes nothing and reads nothing: %s', async (_, status, sent) => {
    const before = await fingerprint(database.sql, ctx.tenantId)
    const answer = await send(owner, sent())
    expect(answer.status, answer.text).toBe(status)
    expect(answer.text).not.toContain('Mine')
    expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    expect(await fingerprint(database.sql, ctx.tenantId)).toBe(before)
  })

  test('but a page of this origin can do both', async () => {
    for (const headers of [{}, { 'sec-fetch-site': '', origin: ORIGIN }]) {
      const answer = await send(owner, listed({ headers }))
      expect(answer.status, answer.text).toBe(200)
      expect(answer.text).toContain('Mine')
    }
  })
})

describe('a batch', () => {
  const batch = (calls: number): Sent => ({
    path: Array(calls).fill('workflows.list').join(','),
    query: { batch: '1' },
    body: JSON.stringify(Object.fromEntries(Array.from({ length: calls }, (_, index) => [index, {}]))),
  })

  test('of ten is answered', async () => {
    const { status, text } = await send(owner, batch(10))
    expect(status, text).toBe(200)
    expect(JSON.parse(text)).toHaveLength(10)
  })

  test.each([11, 100])('of %i is rejected entirely, however it is written', async (calls) => {
    for (const path of [batch(calls).path ?? '', encodeURIComponent(batch(calls).path ?? '')]) {
      const { status, text } = await send(owner, { ...batch(calls), path })
      expect(status, text).toBe(400)
      expect(text).not.toContain('Mine')
    }
  })
})

describe('a start', () => {
  const file = (bytes: number) => ({ name: 'a.txt', type: 'text/plain', base64: 'A'.repeat(bytes) })
  const input = (more: object) => ({ workflowId: 'wf_none', data: {}, ...more })
  const body = (value: object) => ({ path: 'runs.start', body: JSON.stringify(value) })
  const batched = { query: { batch: '1' } }
  const big = input({ file: file(2_000_000) })
  const long = 'x'.repeat(1_100_000)

  test.each<[string, Sent]>([
    ['alone', body(big)],
    ['in a batch of one', { ...body({ 0: big }), ...batched }],
  ])('may carry a file %s', async (_, sent) => {
    const { status, text } = await send(owner, sent)
    // The file was read: only its workflow does not exist.
    expect(status, text).not.toBe(413)
    expect(text).toContain('WORKFLOW_NOT_FOUND')
  })

  test('like that of an earlier run may carry a file too', async () => {
    const again = { runId: 'run_none', body: { data: {} }, file: file(2_000_000) }
    const { status, text } = await send(owner, { path: 'runs.rerun', body: JSON.stringify(again) })
    expect(status, text).not.toBe(413)
    expect(text).toContain('RUN_NOT_FOUND')
  })

  test.each<[string, Sent]>([
    ['with other calls', { ...body({ 0: big, 1: {} }), ...batched, path: 'runs.start,workflows.list' }],
    ['twice', { ...body({ 0: big, 1: big }), ...batched, path: 'runs.start,runs.start' }],
    ['as another call', { ...body(big), path: 'workflows.list' }],
    ['with a megabyte of data', body(input({ data: { long } }))],
    ['with a file and a megabyte of data', body(input({ data: { long }, file: file(4) }))],
    ['with a long name of a file', body(input({ file: { ...file(4), name: long } }))],
    ['with something else beside its input', { ...body({ 0: input({ file: file(4) }), 1: long }), ...batched }],
    ['with a file in the wrong place', { ...body({ 1: big }), ...batched }],
  ])('is too large %s', async (_, sent) => {
    const { status, text } = await send(owner, sent)
    expect(status, text).toBe(413)
    expect(errorIn(text)).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
  })

  test('by nobody is refused before its file is read', async () => {
    const pulled: number[] = []
    const stream = new ReadableStream({
      pull(controller) {
        pulled.push(1)
        if (pulled.length > 100) return controller.close()
        controller.enqueue(new Uint8Array(65_536).fill(32))
      },
    })
    const request = new Request(`${ORIGIN}/api/trpc/runs.start`, {
      method: 'POST',
      headers: { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
      body: stream,
      duplex: 'half',
    } as RequestInit)
    const answer = await handleTrpc(request)
    expect(answer.status).toBe(401)
    expect(errorIn(await answer.text())).toMatchObject({ code: 'UNAUTHORIZED' })
    expect(pulled.length).toBeLessThan(5)
  })
})

describe('a request', () => {
  const names = Object.keys(CASES)
  const whole = [null, [], 'x', 7, true, [{}], { __proto__: null, constructor: {} }]
  const texts = ["'; drop table runs; --", 'x'.repeat(5_000), '', '../../etc/passwd', '%00']
  const leaves: unknown[] = [...texts, -1, 1e308, null, [], {}, { toString: 'x' }, true]
  /** Each makes its whole request unreadable, so it cannot share a batch. */
  const unreadable = ['\u0000', '\ud800']

  test.each(sampled(names, 4))(
    '%s refuses any other input, explains the problem, and reveals nothing of the inside',
    async (name) => {
      const input = caseOf(name).input?.('x') ?? { id: 'x', name: 'x', q: 'x' }
      const withEach = (hostile: unknown[]) => hostile.flatMap((leaf) => withLeaf(input, leaf))
      const alone = [undefined, {}, ...withEach(unreadable)]
      if (KINDS[name] === 'subscription') alone.push(...withEach(leaves))
      // Only in a batch can an input be something other than an object; no event stream can be in one.
      const batched = KINDS[name] === 'subscription' ? [] : [...whole, ...withEach(leaves)]
      const batches = Array.from({ length: Math.ceil(batched.length / 10) }, (_, at) =>
        batched.slice(at * 10, at * 10 + 10),
      )
      const requests = [
        ...alone.map((hostile) => async () => [await callProcedure(owner, name, hostile)]),
        ...batches.map((inputs) => () => callBatch(owner, name, inputs)),
      ]
      // Each mostly waits for the database. More of them would make the service refuse large answers for lack of room; on
      // a busy machine it may do so even now, and then the caller tries again.
      await forEachAtOnce(requests, 8, async (request) => {
        let answers = await request()
        while (answers.some(({ text }) => text.includes(NO_ROOM))) answers = await request()
        for (const answer of answers) refusesOrAnswers(name, answer)
      })
    },
  )

  test.each<[string, Sent]>([
    ['deeply nested', { body: `{"q":${'['.repeat(5_000)}${']'.repeat(5_000)}}` }],
    ['with a NUL', { body: '{"q":"a\\u0000b"}' }],
    ['with half a surrogate pair', { body: '{"q":"\\ud800"}' }],
    ['that is no JSON', { body: '{"q":' }],
    ['that is a list', { body: '[1]' }],
    ['that is a text', { body: '"x"' }],
    ['with more than a megabyte', { body: JSON.stringify({ q: 'x'.repeat(1_100_000) }) }],
    ['with an infinite number', { body: '{"q":1e999}' }],
    ['to a procedure that is none', { path: 'workflows.none', body: '{}' }],
    ['to a router', { path: 'workflows', body: '{}' }],
    ['to what every object has', { path: 'constructor', body: '{}' }],
    ['to __proto__', { path: 'workflows.__proto__', body: '{}' }],
    ['to nothing', { path: '', body: '{}' }],
    ['to bytes that are no text', { path: '%E0%A4%A', body: '{}' }],
  ])('%s is a 4xx', async (_, sent) => {
    const answer = await send(owner, { path: 'home.find', ...sent })
    expect(answer.status, answer.text).toBeGreaterThanOrEqual(400)
    expect(answer.status, answer.text).toBeLessThan(500)
    expect(answer.text).not.toMatch(INSIDE)
  })

  test('with __proto__ changes no object', async () => {
    await send(owner, {
      path: 'home.find',
      body: '{"q":"x","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
    })
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })

  test.each(['\u0000', '\ud800', `${'['.repeat(100)}`])(
    'to an event stream with %j is refused like a body',
    async (text) => {
      const query = { input: text.startsWith('[') ? text : JSON.stringify({ runId: text }) }
      const answer = await callProcedure(owner, 'runs.changes', undefined, { query })
      expect(answer.status, answer.text).toBeGreaterThanOrEqual(400)
      expect(answer.status, answer.text).toBeLessThan(500)
    },
  )

  function refusesOrAnswers(name: string, { status, text }: Pick<Answer, 'status' | 'text'>): void {
    expect(status, `${name}: ${text}`).toBeLessThan(500)
    if (status < 400) return
    expect(text, name).not.toMatch(INSIDE)
    const { code, details, requestId } = errorIn(text)
    expect(requestId, `${name}: ${text}`).toMatch(/^[\w-]{8,}$/)
    if (code === 'INVALID_INPUT') expect(details, `${name}: ${text}`).not.toEqual([])
  }
})

describe('an error', () => {
  test('carries the request’s id, in the body and in a header', async () => {
    const answer = await callProcedure(
      owner,
      'runs.overview',
      { runId: 'run_none' },
      { headers: { 'x-request-id': 'my-request-1' } },
    )
    expect(answer.status).toBe(404)
    expect(answer.headers.get('x-request-id')).toBe('my-request-1')
    expect(errorIn(answer.text)).toMatchObject({ code: 'RUN_NOT_FOUND', requestId: 'my-request-1' })
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  test('that is unexpected reveals nothing', async () => {
    await database.sql`alter table step_records rename to step_records_away`
    try {
      const { runId } = await aRun()
      const { status, text } = await callProcedure(owner, 'runs.timeline', { runId })
      expect(status, text).toBe(500)
      expect(errorIn(text)).toMatchObject({ code: 'INTERNAL', message: 'Internal server error', details: [] })
      expect(text).not.toMatch(INSIDE)
      expect(text).not.toContain('step_records')
    } finally {
      await database.sql`alter table step_records_away rename to step_records`
    }
  })
})

async function aRun(): Promise<{ runId: string }> {
  const runId = 'run_opaque'
  await database.sql`
    insert into runs (tenant_id, id, workflow_id, workflow_version, workflow_name, status, input, data, started_by, start_time)
    values (${ctx.tenantId}, ${runId}, ${workflowId}, 1, 'Mine', 'running', '{}', '{}', 'system', now())`
  return { runId }
}

/** The input with each of its texts and numbers replaced, one at a time. */
function withLeaf(input: object, leaf: unknown): object[] {
  return Object.entries(input).flatMap(([key, value]) => {
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
      return [...withLeaf(value, leaf).map((inner) => ({ ...input, [key]: inner })), { ...input, [key]: leaf }]
    }
    return [{ ...input, [key]: leaf }]
  })
}
