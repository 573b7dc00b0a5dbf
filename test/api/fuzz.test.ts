import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OpenApiDocument } from '@/server/openapi/types'
import { hostileRequest, type Ids, type RawRequest } from '../openapi/hostile'
import { type Checker, checkerOf, inlined, operationsOf } from '../openapi/validate'
import { type Api, startApi } from '../support/api'
import { rounds } from '../support/rounds'

/**
 * Requests per operation. Thirty cover each parameter, header and body with many kinds of invalid values, different
 * ones in each run of the tests; the 500 of `SOAK=1` cover all kinds and take two to three minutes. Use
 * `FUZZ_REQUESTS=10000` for a long search and `FUZZ_SEED=…` to repeat one.
 */
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? rounds(30, 500))
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31)
const CONCURRENCY = 16
const SLOWEST_MS = 10_000
/** A request that is slow only because the machine is busy is not slow every time. */
const TRIES = 5

/** Must not appear in an answer: the location of our code, or the text of our queries. */
const LEAKS =
  /node_modules|\.next\/|\bat [\w.<>]+ \(|\.[cm]?[jt]sx?:\d+|PostgresError|DrizzleQuery|\b(select|insert into|update) "?\w+"? (from|set|where|\()|violates|relation "/i

let api: Api
let document: OpenApiDocument
let check: Checker
const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY })

beforeAll(async () => {
  // Keep the wait of a synchronous start short enough to answer within the second.
  api = await startApi({ SYNC_START_TIMEOUT_MS: '500', RATE_LIMIT_FAILURES: '1000000' })
  document = inlined((await api.call('GET', '/api/openapi.json')).body)
  check = checkerOf(document)
})
afterAll(async () => {
  agent.destroy()
  await api?.stop()
})

interface RawAnswer {
  status: number
  type: string
  text: string
  ms: number
}

function send(raw: RawRequest): Promise<RawAnswer> {
  const started = performance.now()
  return new Promise((resolve, reject) => {
    let answered = false
    const { hostname, port } = new URL(api.url)
    const length = raw.body ? { 'content-length': String(raw.body.length) } : {}
    const outgoing = httpRequest({
      agent,
      hostname,
      port,
      method: raw.method,
      path: raw.path,
      headers: { ...raw.headers, ...length },
    })
    outgoing.setTimeout(60_000, () => outgoing.destroy(new Error('no answer within a minute')))
    outgoing.once('response', (response) => {
      answered = true
      read(response).then((text) => {
        const { statusCode: status = 0, headers } = response
        resolve({ status, type: headers['content-type'] ?? '', text, ms: performance.now() - started })
      }, reject)
    })
    // When a body is rejected without being read, the connection may be closed; the answer has arrived by then.
    outgoing.on('error', (error) => (answered ? undefined : reject(error)))
    outgoing.end(raw.body ?? undefined)
  })
}

/** Reads the whole body, or only the start of an event stream. */
async function read(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of response) {
    chunks.push(chunk as Buffer)
    if (response.headers['content-type']?.startsWith('text/event-stream')) break
  }
  return Buffer.concat(chunks).toString()
}

/** Large answers take turns, and on a slow machine one may have to wait for longer than the service lets it. */
const isBusy = ({ status, text }: RawAnswer) => status === 503 && text.includes('try again shortly')

/** Paths that become a different path when parsed. */
const ELSEWHERE = /\/\.{1,2}(\/|$|\?)|%2e|%2f|%5c|\/\//i

function verify(raw: RawRequest, declared: string[], answer: RawAnswer): void {
  const { status, type, text, ms } = answer
  const said = `${status} ${type} ${text.slice(0, 400)}`
  expect(status, said).toBeLessThan(500)
  expect(ms, said).toBeLessThanOrEqual(SLOWEST_MS)
  const allowed = ELSEWHERE.test(raw.path) ? [...declared, '308', '404', '405', '200', '202'] : declared
  expect(allowed, said).toContain(String(status))
  if (status < 400) return
  expect(type, said).toMatch(/^application\/json/)
  expect(check(['components', 'schemas', 'Error'], JSON.parse(text)), said).toEqual([])
  expect(LEAKS.test(text), said).toBe(false)
}

async function makeIds(): Promise<Ids> {
  const post = async (path: string, body: object) => (await api.call('POST', path, body)).body
  const form = new FormData()
  form.set('attachment', new Blob(['hello']), 'a.txt')
  const headers = { 'x-api-key': api.apiKey }
  const response = await fetch(`${api.url}/api/workflow/start/wf_document`, { method: 'POST', headers, body: form })
  const withFile = (await response.json()) as { runId: string; data: { fileId: string } }
  const broken = await post('/api/workflows', { name: 'Broken', steps: [{ id: 'a', type: 'nothing' }] })
  const failing = await post('/api/workflows', {
    name: 'Fails',
    steps: [{ id: 'a', type: 'call-tool', toolId: 'tool_throws' }],
  })
  const failed = await post(`/api/workflow/start/${failing.id}`, {})
  const agent = await post('/api/agents', { name: 'Agent', outputSchema: { type: 'object' } })
  const words = await post('/api/agents', { name: 'Words' })
  const script = { name: 'Tool', kind: 'script', config: { code: 'return args' } }
  const tool = await post('/api/tools', script)
  const paused = await Promise.all([1, 2, 3].map(() => post('/api/workflow/start/wf_order_approval', {})))
  const hello = await post('/api/workflow/start/wf_hello', { name: 'Ada' })
  const copies = await Promise.all([1, 2, 3].map(() => post('/api/workflows/wf_hello/clone', {})))
  return {
    workflow: ['wf_hello', 'wf_order_approval', 'wf_document', broken.id, failing.id, ...copies.map(({ id }) => id)],
    run: [failed.runId, hello.runId, withFile.runId, ...paused.map(({ runId }) => runId)],
    agent: [agent.id, words.id],
    tool: ['tool_add', 'tool_throws', 'tool_greet', 'tool_read_file', tool.id],
    file: [withFile.data.fileId],
  }
}

test(`${REQUESTS} hostile requests of each operation get a good answer each (seed ${SEED})`, async () => {
  const ids = await makeIds()
  const times: number[] = []
  const failures: string[] = []
  const seen = new Map<number, number>()
  const waiting = operationsOf(document)
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const declared = Object.keys(next.operation.responses)
      const property = fc.asyncProperty(hostileRequest(next, ids, api.apiKey), async (raw) => {
        let answer = await send(raw)
        times.push(answer.ms)
        for (let more = TRIES - 1; (answer.ms > SLOWEST_MS || isBusy(answer)) && more > 0; more--) {
          if (isBusy(answer)) await sleep(2_000)
          answer = await send(raw)
        }
        seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1)
        verify(raw, declared, answer)
      })
      const result = await fc.check(property, { numRuns: REQUESTS, seed: SEED })
      if (result.failed) failures.push(`${next.method} ${next.path}: ${describeFailure(result)}`)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  times.sort((a, b) => a - b)
  const p99 = times[Math.floor(times.length * 0.99)] ?? 0
  const statuses = [...seen].sort(([a], [b]) => a - b).map(([status, count]) => `${status}×${count}`)
  process.stderr.write(`${times.length} requests, p99 ${Math.round(p99)} ms, ${statuses.join(' ')}, seed ${SEED}\n`)
  expect(failures, `FUZZ_SEED=${SEED}`).toEqual([])
  // The run would prove nothing if authentication or routing refused every request.
  expect(seen.get(200) ?? 0).toBeGreaterThan(times.length / 50)
  expect(await api.call('GET', '/api/health')).toMatchObject({ status: 200, body: { status: 'ok' } })
  expect(process.kill(api.pid, 0)).toBe(true)
  expect(api.logs().match(/^\{"level":(50|60).*$/gm) ?? []).toEqual([])
}, 600_000)

function describeFailure({ counterexample, errorInstance }: fc.RunDetails<[RawRequest]>): string {
  const [raw] = counterexample ?? []
  const shown = raw && { ...raw, path: raw.path.slice(0, 200), body: raw.body?.toString('latin1').slice(0, 300) }
  return `${JSON.stringify(shown)} -> ${String((errorInstance as Error | undefined)?.message).slice(0, 600)}`
}
