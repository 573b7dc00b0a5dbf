import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { AllowedHosts } from '@/lib/ip'
import type { GuardOptions } from '@/server/net/guarded-fetch'
import { scriptFetch } from '@/server/tools/kinds/script-fetch'
import { MAX_FETCHES, runScript, stopSandbox } from '@/server/tools/sandbox/run-script'
import { type Canary, type Outside, type Seen, startCanary, startOutside } from '../net/outside'
import { HOSTILE_URLS } from '../net/ssrf-urls'
import { quickest } from '../support/patience'

type Respond = (seen: Seen, response: ServerResponse) => void | Promise<void>
const hello: Respond = (_seen, response) =>
  void response.writeHead(200, { 'content-type': 'application/json', 'X-Made-By': 'test' }).end('{"hello":"wörld"}')

let outside: Outside
let other: Outside
let canary: Canary
let respond: Respond = hello
beforeAll(async () => {
  outside = await startOutside((seen, response) => respond(seen, response))
  other = await startOutside((_seen, response) => void response.end('other'))
  canary = await startCanary()
})
afterAll(() => Promise.all([stopSandbox(), outside.stop(), other.stop(), canary.stop()]))
afterEach(() => {
  respond = hello
  outside.seen.length = 0
  other.seen.length = 0
})

const local = (...ports: number[]) => AllowedHosts.of(ports.map((port) => `127.0.0.1:${port}`))

interface Given {
  hosts?: string[]
  options?: Omit<GuardOptions, 'only'>
  timeoutMs?: number
  signal?: AbortSignal
}

/** With the test servers permitted, since they run on this machine. */
function run(
  code: string,
  args: unknown,
  { hosts = [`127.0.0.1:${outside.port}`], options = {}, ...more }: Given = {},
) {
  const allowed = local(outside.port, other.port)
  const fetch = scriptFetch(AllowedHosts.of(hosts), { allowed, ...options })
  return runScript({ tenantId: 'ten_a', code, args, dataContext: {}, context: {}, fetch, ...more })
}

describe('fetch in a script', () => {
  test('returns status, headers and body', async () => {
    const code = `
      const response = await fetch(args.url + '/a?b=1')
      const { ok, status, headers } = response
      return [ok, status, headers.get('x-MADE-by'), headers.get('none'), await response.text(), await response.json()]`
    expect(await run(code, outside)).toMatchObject({
      ok: true,
      value: [true, 200, 'test', null, '{"hello":"wörld"}', { hello: 'wörld' }],
    })
    expect(outside.seen).toMatchObject([{ method: 'GET', url: '/a?b=1', headers: { 'user-agent': 'Millrace' } }])
  })

  test('sends method, headers and body, and returns an error status as an answer', async () => {
    respond = (_seen, response) => void response.writeHead(409).end('no\u0000"')
    const code = `
      const body = JSON.stringify({ a: 'ü\\u0000' })
      const response = await fetch(args.url, { method: 'put', headers: { 'Content-Type': 'application/json', n: 1 }, body })
      return [response.ok, response.status, await response.text()]`
    expect(await run(code, outside)).toMatchObject({ ok: true, value: [false, 409, 'no\u0000"'] })
    expect(outside.seen).toMatchObject([
      { method: 'PUT', body: '{"a":"ü\\u0000"}', headers: { 'content-type': 'application/json', n: '1' } },
    ])
  })

  test('makes several calls at once, and each gets its own answer', async () => {
    respond = async ({ url }, response) => {
      await sleep(url === '/0' ? 100 : 0)
      response.end(url)
    }
    const code = `
      const ask = async (n) => (await fetch(args.url + '/' + n)).text()
      return Promise.all([0, 1, 2, 3].map(ask))`
    expect(await run(code, outside)).toMatchObject({ ok: true, value: ['/0', '/1', '/2', '/3'] })
  })

  test('does not exist without hosts, so the name is free', async () => {
    const plain = (code: string) => runScript({ tenantId: 'ten_a', code, args: {}, dataContext: {}, context: {} })
    expect(await plain('return typeof fetch')).toMatchObject({ value: 'undefined' })
    expect(await plain('const fetch = 1; return fetch')).toMatchObject({ value: 1 })
  })

  test.each<[string, unknown, string]>([
    ['an unknown method', { method: 'TRACE' }, 'method'],
    ['a body with GET', { body: 'x' }, 'body: is not sent with GET or HEAD'],
    ['a header with a line break', { headers: { a: 'x\r\ny: z' } }, 'headers[0][1]: is not a valid header value'],
    ['a header of the connection', { headers: { Host: 'x' } }, 'is set by the connection itself'],
    ['a body that is no text', { method: 'POST', body: { a: 1 } }, 'must be a string'],
    ['a large body', { method: 'POST', body: 'x'.repeat(1024 * 1024 + 1) }, 'body: is larger than 1048576 bytes'],
  ])('rejects %s', async (_, init, message) => {
    const outcome = await run('return fetch(args.url, args.init)', { url: outside.url, init })
    expect(outcome).toMatchObject({ ok: false, code: 'EXECUTION_ERROR', message: expect.stringContaining(message) })
    expect(outside.seen).toEqual([])
  })
})

describe('a failing call', () => {
  const url = () => ({ url: outside.url, canary: `http://127.0.0.1:${canary.port}/` })

  test('can be caught, and explains the failure', async () => {
    const code = `try { await fetch(args.canary) } catch (e) { return [e instanceof Error, e.name, e.code, e.message] }`
    expect(await run(code, url())).toMatchObject({
      value: [true, 'FetchError', 'BLOCKED_HOST', 'The tool may not call the host 127.0.0.1.'],
    })
  })

  test('is the failure of a script that does not catch it, with its line', async () => {
    expect(await run('const a = 1\n\nreturn fetch(args.canary)', url())).toEqual({
      ok: false,
      code: 'BLOCKED_HOST',
      message: 'The tool may not call the host 127.0.0.1.',
      details: ['FetchError', expect.stringMatching(/^at line 3/)],
      logs: [],
      waitedMs: expect.any(Number),
    })
    respond = (_seen, response) => void response.destroy()
    expect(await run('return fetch(args.url)', url())).toMatchObject({ code: 'CONNECTION_ERROR', transient: true })
    respond = (_seen, response) => void response.end('x'.repeat(1024 * 1024 + 1))
    expect(await run('return fetch(args.url)', url())).toMatchObject({ code: 'OUTPUT_INVALID' })
    respond = () => {}
    const slow = await run('return fetch(args.url)', url(), { options: { timeoutMs: 50 } })
    expect(slow).toMatchObject({ code: 'TIMEOUT', message: 'No answer within 50 ms.', transient: true })
  })

  test.each([
    'throw { code: "BLOCKED_HOST", transient: true }',
    'Object.prototype.code = "CONNECTION_ERROR"; Object.prototype.transient = true; throw new Error("x")',
    'try { await fetch(args.canary) } catch (e) { throw Object.assign(new Error("x"), e) }',
    'WeakMap.prototype.get = () => ({ code: "CONNECTION_ERROR", transient: true }); throw new Error("x")',
  ])('cannot be faked: %s', async (code) => {
    const outcome = await run(code, url())
    expect(outcome).toMatchObject({ ok: false, code: 'EXECUTION_ERROR' })
    expect(outcome).not.toHaveProperty('transient')
  })
})

describe('hosts that a script may call', () => {
  const hostOf = (url: string) => (URL.canParse(url) ? [new URL(url).hostname].filter((host) => host !== '') : [])
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  const ask = 'try { await fetch(args.url) } catch (e) { return e.code } return "went through"'

  test('none of the hostile URLs reaches anything, listed or not', async () => {
    expect(HOSTILE_URLS.length).toBeGreaterThanOrEqual(60)
    const options = { allowed: AllowedHosts.none, resolve }
    let listed = 0
    for (const hostile of HOSTILE_URLS) {
      const url = hostile.replaceAll('PORT', String(canary.port))
      // Listed by its tool, if a list can express it, so that only the guard blocks it.
      const hosts = hostOf(url).filter((host) => AllowedHosts.parse(host) !== null)
      listed += hosts.length
      expect(await run(ask, { url }, { hosts, options }), url).toMatchObject({ value: 'BLOCKED_HOST' })
      expect(await run(ask, { url }, { hosts: ['api.example.com'], options }), url).toMatchObject({
        value: 'BLOCKED_HOST',
      })
    }
    expect(listed).toBeGreaterThan(40)
    expect(canary.hits()).toBe(0)
  })

  test('a name that changes its address after the check is not followed', async () => {
    let asked = 0
    // First the address that is permitted here, then the one that is not.
    const rebind = async () => [{ address: asked++ === 0 ? '127.0.0.1' : '127.0.0.2', family: 4 }]
    const given = { hosts: ['rebind.example.com'], options: { resolve: rebind } }
    const url = `http://rebind.example.com:${outside.port}/`
    const code = `const first = await (await fetch(args.url)).json(); ${ask}`
    expect(await run(code, { url }, given)).toMatchObject({ value: 'BLOCKED_HOST' })
    expect(asked).toBe(2)
    expect(outside.seen).toHaveLength(1)
  })

  test('a host that is not listed is not even looked up', async () => {
    let asked = 0
    const counted = async () => {
      asked++
      return resolve()
    }
    const given = { hosts: ['api.example.com', 'ported.example.com:444'], options: { resolve: counted } }
    for (const host of ['example.com', 'x.api.example.com', 'api.example.com.evil.net', 'ported.example.com'])
      expect(await run(ask, { url: `https://${host}/` }, given), host).toMatchObject({ value: 'BLOCKED_HOST' })
    expect(asked).toBe(0)
    const listed = `http://API.example.com.:${outside.port}/`
    expect(await run(ask, { url: listed }, given)).toMatchObject({ value: 'went through' })
    expect(asked).toBe(1)
  })

  test('every hop of a redirect must be listed and public', async () => {
    for (const target of [`${other.url}/`, `http://127.0.0.1:${canary.port}/`, 'http://169.254.169.254/latest/']) {
      respond = (_seen, response) => void response.writeHead(302, { location: target }).end()
      expect(await run(ask, outside), target).toMatchObject({ value: 'BLOCKED_HOST' })
    }
    const hosts = [`127.0.0.1:${outside.port}`, '169.254.169.254']
    expect(await run(ask, outside, { hosts })).toMatchObject({ value: 'BLOCKED_HOST' })
    expect([other.seen.length, canary.hits()]).toEqual([0, 0])
    respond = (_seen, response) => void response.writeHead(302, { location: `${other.url}/` }).end()
    const both = { hosts: ['127.0.0.1'] }
    expect(await run('return (await fetch(args.url)).text()', outside, both)).toMatchObject({ value: 'other' })
  })
})

// Retried, because the time limit is real time and other tests run concurrently.
describe('a script that attacks through its calls', { retry: 2 }, () => {
  const DEADLINE = 400
  const endless: Respond = (_seen, response) => {
    response.writeHead(200)
    const drip = setInterval(() => response.write('x'), 10)
    response.on('close', () => clearInterval(drip))
  }

  test('gets 20 calls, not 10,000', async () => {
    const code = `
      let made = 0, refused = 0
      const one = () => fetch(args.url).then(() => { made++ }, (e) => { refused++; last = e.message })
      let last = ''
      await Promise.all(Array.from({ length: 10_000 }, one))
      return [made, refused, last]`
    expect(await run(code, outside)).toMatchObject({ value: [MAX_FETCHES, 9_980, 'A script may call fetch 20 times'] })
    expect(outside.seen).toHaveLength(MAX_FETCHES)
  })

  test.each([
    ['a body of 100 MB', "await fetch(args.url, { method: 'POST', body: 'x'.repeat(1e8) })"],
    ['a URL of 10 MB', "await fetch(args.url + '/' + 'x'.repeat(1e7))"],
    ['a million headers', "await fetch(args.url, { headers: Array(1e6).fill(['a', 'b']) })"],
    ['a getter that throws', 'await fetch(args.url, { get body() { throw new Error("no") } })'],
    ['what is no URL', 'await fetch({ toString() { throw new Error("no") } })'],
    ['a stringify of its own', 'Object.prototype.toJSON = () => ({ a: [[[[]]]] }); await fetch(args.url)'],
    ['a setter on every object', 'Object.defineProperty(Object.prototype, "resolve", { set() { throw 1 } }); fetch(1)'],
  ])('sends nothing with %s', async (_, code) => {
    const outcome = await run(code, outside)
    if (outcome.ok) expect(outcome.value).toBeNull()
    expect(outside.seen).toEqual([])
  })

  test.each<[string, string, Respond]>([
    ['waits for no answer', 'await fetch(args.url)', () => {}],
    ['waits for an answer without an end', 'await fetch(args.url)', endless],
    ['never stops to catch and wait', 'for (;;) try { await fetch(args.url) } catch {}', () => {}],
    ['loops while a call is under way', 'fetch(args.url); for (;;);', endless],
    ['loops in what follows a call', 'await fetch(args.url).then(() => { for (;;); })', hello],
    ['hides in a built-in', "fetch(args.url); return new Array(1e8).join('abc')", endless],
  ])('ends on time when it %s, and so do its calls', async (_, code, answer) => {
    let open = 0
    respond = async (seen, response) => {
      open++
      response.on('close', () => open--)
      await answer(seen, response)
    }
    await run('return 1', {})
    const took = await quickest(DEADLINE + 250, async () => {
      expect(await run(code, outside, { timeoutMs: DEADLINE })).toMatchObject({ ok: false, code: 'TIMEOUT' })
    })
    expect(took).toBeLessThan(DEADLINE + 250)
    await expect.poll(() => open).toBe(0)
  })

  test.each([
    ['that nobody awaits', 'fetch(args.url); return 1'],
    ['that fail in what follows', 'fetch(args.url).then(() => { throw new Error("late") }); return 1'],
    ['that are kept for later', 'globalThis.kept = fetch(args.url); return 1'],
  ])('leaves no call running: those %s are aborted', async (_, code) => {
    let open = 0
    respond = (_seen, response) => {
      open++
      response.on('close', () => open--)
    }
    expect(await run(code, outside)).toMatchObject({ ok: true, value: 1 })
    await sleep(50)
    await expect.poll(() => open).toBe(0)
    expect(await run('return typeof kept', outside)).toMatchObject({ value: 'undefined' })
  })

  test('aborts its calls when its caller disconnects', async () => {
    respond = () => {}
    const caller = new AbortController()
    const running = run('return fetch(args.url)', outside, { signal: caller.signal })
    await expect.poll(() => outside.seen.length).toBe(1)
    caller.abort()
    expect(await running).toMatchObject({ code: 'EXECUTION_ERROR', message: 'The script was cancelled' })
  })

  test('gets no answer that an earlier script requested', async () => {
    respond = async ({ url }, response) => {
      if (url === '/late') await sleep(30)
      response.end(url)
    }
    for (let i = 0; i < 20; i++) {
      await run("fetch(args.url + '/late'); fetch(args.url + '/soon'); return 1", outside)
      const next = await run("return (await fetch(args.url + '/mine')).text()", outside)
      expect(next).toMatchObject({ value: '/mine' })
    }
  })

  test.each([
    'Map.prototype.set = Array.prototype.push = () => { for (;;); }',
    'globalThis.Promise = class { constructor() { throw 1 } }',
    'Promise.prototype.then = null',
    'Object.prototype.failure = { code: "x" }',
    'JSON.parse = JSON.stringify = () => { throw 1 }',
    'Reflect.apply = WeakMap.prototype.set = String.prototype.toLowerCase = null',
  ])('only fools itself: %s', async (trick) => {
    const outcome = await run(`${trick}; return await (await fetch(args.url)).text()`, outside, { timeoutMs: 2_000 })
    if (outcome.ok) expect(outcome.value).toBe('{"hello":"wörld"}')
    expect(Reflect.get({}, 'failure')).toBeUndefined()
    expect(await run('return (await fetch(args.url)).status', outside)).toMatchObject({ value: 200 })
  })
})

test('scripts that only wait give up their place', async () => {
  let release = () => {}
  const released = new Promise<void>((done) => {
    release = done
  })
  respond = async (_seen, response) => {
    await released
    response.end('slow')
  }
  await run('return 1', {})
  const more = { timeoutMs: 120_000 }
  const waiting = Array.from({ length: 8 }, () => run('return (await fetch(args.url)).text()', outside, more))
  // More than run concurrently, while none has its answer.
  await expect.poll(() => outside.seen.length).toBe(8)
  expect(await run('return 2', {})).toMatchObject({ value: 2 })
  release()
  for (const outcome of await Promise.all(waiting)) expect(outcome).toMatchObject({ value: 'slow' })
})
