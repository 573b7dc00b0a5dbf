import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer as createTls } from 'node:tls'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { AllowedHosts } from '@/lib/ip'
import { type GuardedRequest, type GuardOptions, guardedFetch } from '@/server/net/guarded-fetch'
import { neverCalled } from '@/server/net/vet'
import { type Canary, type Outside, type Seen, startCanary, startOutside } from './outside'
import { HOSTILE_URLS } from './ssrf-urls'

let canary: Canary
let outside: Outside
let other: Outside
let respond: (seen: Seen, response: ServerResponse) => void | Promise<void> = (_seen, response) => void response.end()
beforeAll(async () => {
  canary = await startCanary()
  outside = await startOutside((seen, response) => respond(seen, response))
  other = await startOutside((_seen, response) => void response.end('other'))
})
afterAll(() => Promise.all([canary.stop(), outside.stop(), other.stop()]))
afterEach(() => {
  outside.seen.length = 0
  other.seen.length = 0
})

/** With the two test servers permitted, since they run on this machine. */
function call(url: string, request: GuardedRequest = {}, options: GuardOptions = {}) {
  const allowed = AllowedHosts.parse(`127.0.0.1:${outside.port},127.0.0.1:${other.port}`) ?? AllowedHosts.none
  return guardedFetch(url, request, { allowed, ...options })
}
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable('the call went through'),
    (err: unknown) => err,
  )

describe('addresses that may be called', () => {
  test(`none of ${HOSTILE_URLS.length} hostile URLs reaches anything`, async () => {
    expect(HOSTILE_URLS.length).toBeGreaterThanOrEqual(60)
    // A name without an entry could be looked up for real, so every name resolves to this machine.
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
    await Promise.all(
      HOSTILE_URLS.map(async (hostile) => {
        const url = hostile.replaceAll('PORT', String(canary.port))
        expect(await failure(guardedFetch(url, {}, { allowed: AllowedHosts.none, resolve })), url).toMatchObject({
          code: 'BLOCKED_HOST',
          transient: false,
        })
      }),
    )
    expect(canary.hits()).toBe(0)
  })

  test('a person who enters an address is refused by the same rule, without a lookup', async () => {
    const never = () => Promise.reject(new Error('it was looked up'))
    for (const hostile of HOSTILE_URLS) {
      const url = hostile.replaceAll('PORT', String(canary.port))
      const reason = neverCalled(url)
      const sent: unknown = await guardedFetch(url, {}, { allowed: AllowedHosts.none, resolve: never }).catch((e) => e)
      if (reason === null) expect(sent, url).toMatchObject({ code: 'CONNECTION_ERROR' })
      else expect(sent, url).toMatchObject({ code: 'BLOCKED_HOST', message: reason })
    }
    expect(HOSTILE_URLS.filter((url) => neverCalled(url.replaceAll('PORT', '80')) !== null).length).toBeGreaterThan(50)
  })

  test('the test would notice a connection: when permitted, the same URL reaches the canary', async () => {
    const local = await startCanary()
    const allowed = AllowedHosts.parse(`127.0.0.1:${local.port}`) ?? AllowedHosts.none
    const response = await guardedFetch(`http://127.0.0.1:${local.port}/`, {}, { allowed })
    expect(await response.text()).toBe('secret')
    expect(local.hits()).toBe(1)
    await local.stop()
  })

  test('a name is blocked if any of its addresses is private, in any position', async () => {
    for (const addresses of [
      ['93.184.215.14', '127.0.0.1'],
      ['10.0.0.1', '93.184.215.14'],
      ['2606:4700::1111', '::ffff:127.0.0.1'],
      ['fe80::1%eth0'],
      ['not an address'],
    ]) {
      const resolve = async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
      const options = { allowed: AllowedHosts.none, resolve }
      const url = `http://trap.example.com:${canary.port}/`
      expect(await failure(guardedFetch(url, {}, options)), String(addresses)).toMatchObject({ code: 'BLOCKED_HOST' })
    }
    expect(canary.hits()).toBe(0)
  })

  test('a name is resolved only once, and the checked address is the one called, even if it changes', async () => {
    let asked = 0
    // First the address that is permitted here, then the one that is not.
    const resolve = async () => [{ address: asked++ === 0 ? '127.0.0.1' : '127.0.0.2', family: 4 }]
    respond = (_seen, response) => void response.end('first')
    const response = await call(`http://rebind.example.com:${outside.port}/`, {}, { resolve })
    expect(await response.text()).toBe('first')
    expect(asked).toBe(1)
    expect(outside.seen[0]?.headers.host).toBe(`rebind.example.com:${outside.port}`)
    expect(await failure(call(`http://rebind.example.com:${outside.port}/`, {}, { resolve }))).toMatchObject({
      code: 'BLOCKED_HOST',
    })
    expect(outside.seen).toHaveLength(1)
  })

  test('a redirect into a private network is not followed, by address or by name', async () => {
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
    for (const target of [
      `http://127.0.0.1:${canary.port}/`,
      `//127.0.0.1:${canary.port}/`,
      `http://localhost:${canary.port}/`,
      'http://169.254.169.254/latest/',
      'file:///etc/passwd',
      `http://u:p@127.0.0.1:${outside.port}/`,
    ]) {
      for (const status of [301, 302, 303, 307, 308]) {
        respond = (_seen, response) => void response.writeHead(status, { location: target }).end()
        expect(await failure(call(`${outside.url}/`, {}, { resolve })), `${status} ${target}`).toMatchObject({
          code: 'BLOCKED_HOST',
        })
      }
    }
    expect(canary.hits()).toBe(0)
  })

  test('TLS uses the name, not the address, and an invalid certificate ends the call', async () => {
    const asked: string[] = []
    const server = createTls({
      SNICallback: (name, done) => {
        asked.push(name)
        done(new Error('no certificate'))
      },
    })
    server.on('tlsClientError', () => {})
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    const allowed = AllowedHosts.parse(`127.0.0.1:${port}`) ?? AllowedHosts.none
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
    expect(await failure(guardedFetch(`https://secure.example.com:${port}/`, {}, { allowed, resolve }))).toMatchObject({
      code: 'CONNECTION_ERROR',
    })
    expect(asked).toEqual(['secure.example.com'])
    await new Promise((done) => server.close(done))
  })

  test('a name service that does not answer is a connection error, which may be temporary', async () => {
    const resolve = async () => Promise.reject(Object.assign(new Error('later'), { code: 'EAI_AGAIN' }))
    expect(await failure(call('http://nowhere.example.com/', {}, { resolve }))).toMatchObject({
      code: 'CONNECTION_ERROR',
      transient: true,
    })
  })

  test('so is a name that was opened and is not found: its server may be starting', async () => {
    const allowed = AllowedHosts.parse('db.internal') ?? AllowedHosts.none
    const missing = async () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))
    for (const resolve of [missing, async () => []]) {
      expect(await failure(call('http://db.internal/', {}, { allowed, resolve }))).toMatchObject({
        code: 'CONNECTION_ERROR',
        transient: true,
      })
    }
  })
})

describe('redirects', () => {
  const to = (status: number, location: string) => (seen: Seen, response: ServerResponse) => {
    if (seen.url === '/end') response.end('end')
    else response.writeHead(status, { location }).end()
  }

  test.each([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'POST', 'GET', ''],
    [303, 'PUT', 'GET', ''],
    [307, 'POST', 'POST', 'body'],
    [308, 'PUT', 'PUT', 'body'],
    [302, 'PUT', 'PUT', 'body'],
  ])('%i after %s is followed by %s', async (status, method, then, body) => {
    respond = to(status, '/end')
    const headers = { authorization: 'Bearer x', 'content-type': 'text/plain' }
    expect(await (await call(`${outside.url}/a`, { method, body: 'body', headers })).text()).toBe('end')
    expect(outside.seen[1]).toMatchObject({ method: then, body, headers: { authorization: 'Bearer x' } })
    expect(outside.seen[1]?.headers['content-type']).toBe(then === method ? 'text/plain' : undefined)
  })

  test('another origin, even if only the port differs, gets no credentials', async () => {
    respond = to(302, `${other.url}/x`)
    const headers = { authorization: 'a', cookie: 'b', 'x-api-key': 'c', accept: 'text/plain' }
    expect(await (await call(`${outside.url}/a`, { headers })).text()).toBe('other')
    expect(outside.seen[0]?.headers).toMatchObject(headers)
    expect(Object.keys(other.seen[0]?.headers ?? {}).sort()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
    ])
  })

  test('a body is not sent to another origin', async () => {
    respond = to(307, `${other.url}/x`)
    expect(await failure(call(`${outside.url}/a`, { method: 'POST', body: 'b' }))).toMatchObject({ code: 'HTTP_ERROR' })
    expect(other.seen).toHaveLength(0)
  })

  test('three are followed, a fourth is not, and none when the caller wants none', async () => {
    respond = (seen, response) => {
      const left = Number(seen.url.slice(1))
      if (left === 0) response.end('there')
      else response.writeHead(302, { location: `/${left - 1}` }).end()
    }
    expect(await (await call(`${outside.url}/3`)).text()).toBe('there')
    expect(await failure(call(`${outside.url}/4`))).toMatchObject({ code: 'HTTP_ERROR' })
    expect(await failure(call(`${outside.url}/1`, { redirect: 'error' }))).toMatchObject({ code: 'HTTP_ERROR' })
    respond = (_seen, response) => void response.writeHead(302, { location: 'http://[' }).end()
    expect(await failure(call(`${outside.url}/1`))).toMatchObject({ code: 'HTTP_ERROR' })
  })
})

describe('the answer', () => {
  const MAX = 1024 * 1024

  test('is decoded, without cookies', async () => {
    for (const [encoding, encode] of [
      ['gzip', gzipSync],
      ['deflate', deflateSync],
      ['br', brotliCompressSync],
    ] as const) {
      respond = (_seen, response) =>
        void response
          .writeHead(200, { 'content-encoding': encoding, 'set-cookie': ['a=1', 'b=2'] })
          .end(encode('hällo'))
      const response = await call(`${outside.url}/`)
      expect(await response.text(), encoding).toBe('hällo')
      expect([...response.headers.keys()]).not.toContain('set-cookie')
      expect(response.headers.get('content-encoding')).toBeNull()
    }
  })

  test('is limited in size, however it is compressed', async () => {
    for (const [encoding, encode] of [
      ['identity', (bytes: Buffer) => bytes],
      ['gzip', gzipSync],
      ['deflate', deflateSync],
      ['br', brotliCompressSync],
    ] as const) {
      respond = (_seen, response) =>
        void response.writeHead(200, { 'content-encoding': encoding }).end(encode(Buffer.alloc(MAX)))
      expect((await (await call(`${outside.url}/`)).arrayBuffer()).byteLength, encoding).toBe(MAX)
      respond = (_seen, response) =>
        void response.writeHead(200, { 'content-encoding': encoding }).end(encode(Buffer.alloc(MAX + 1)))
      expect(await failure((await call(`${outside.url}/`)).text()), encoding).toMatchObject({ code: 'OUTPUT_INVALID' })
    }
  })

  test('does not exhaust memory: a 1 GiB bomb of zeros ends at the limit', async () => {
    const layer = gzipSync(Buffer.alloc(64 * MAX))
    respond = (_seen, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' })
      for (let i = 0; i < 16; i++) response.write(layer)
      response.end()
    }
    const before = process.memoryUsage().rss
    expect(await failure((await call(`${outside.url}/`)).text())).toMatchObject({ code: 'OUTPUT_INVALID' })
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * MAX)
  })

  test('ends if the body is endless, broken, encoded twice or in an unknown encoding', async () => {
    respond = async (_seen, response) => {
      response.on('error', () => {})
      while (!response.destroyed) {
        response.write(Buffer.alloc(64 * 1024))
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    expect(await failure((await call(`${outside.url}/`)).text())).toMatchObject({ code: 'OUTPUT_INVALID' })
    for (const [encoding, body] of [
      ['gzip', 'no gzip'],
      ['br', 'no brotli'],
      ['gzip', gzipSync('whole').subarray(0, 20)],
      ['gzip, gzip', gzipSync(gzipSync('twice'))],
      ['zstd', 'x'],
    ] as const) {
      respond = (_seen, response) => void response.writeHead(200, { 'content-encoding': encoding }).end(body)
      expect(await failure((await call(`${outside.url}/`)).text()), encoding).toMatchObject({ code: 'OUTPUT_INVALID' })
    }
    respond = (_seen, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('part')
      setTimeout(() => response.destroy(), 20)
    }
    expect(await failure((await call(`${outside.url}/`)).text())).toMatchObject({ code: 'CONNECTION_ERROR' })
  })

  test('arrives in time or not at all: no answer, slow name look-up, slow body', async () => {
    respond = () => {}
    expect(await failure(call(`${outside.url}/`, {}, { timeoutMs: 100 }))).toMatchObject({ code: 'TIMEOUT' })
    const resolve = () => new Promise<never>(() => {})
    expect(await failure(call('http://slow.example.com/', {}, { timeoutMs: 100, resolve }))).toMatchObject({
      code: 'TIMEOUT',
      transient: true,
    })
    respond = (_seen, response) => {
      response.writeHead(200)
      const drip = setInterval(() => response.write('x'), 20)
      response.on('close', () => clearInterval(drip))
    }
    const started = Date.now()
    const read = call(`${outside.url}/`, {}, { timeoutMs: 200 }).then((answer) => answer.text())
    expect(await failure(read)).toMatchObject({
      code: 'TIMEOUT',
    })
    expect(Date.now() - started).toBeLessThan(60_000)
  })

  test('a caller that disconnects ends the call with its own reason', async () => {
    respond = () => {}
    const reason = new Error('gone')
    const gone = new AbortController()
    setTimeout(() => gone.abort(reason), 50)
    expect(await failure(call(`${outside.url}/`, { signal: gone.signal }))).toBe(reason)
    expect(await failure(call(`${outside.url}/`, { signal: AbortSignal.abort(reason) }))).toBe(reason)
  })

  test('callers cannot set the connection’s own headers', async () => {
    respond = (_seen, response) => void response.end('ok')
    const headers = { Host: 'evil', 'Content-Length': '3', 'Transfer-Encoding': 'chunked', Upgrade: 'x', 'X-Mine': 'y' }
    await (await call(`${outside.url}/`, { method: 'POST', body: 'hello', headers })).text()
    expect(outside.seen[0]).toMatchObject({
      body: 'hello',
      headers: { host: `127.0.0.1:${outside.port}`, 'content-length': '5', 'x-mine': 'y' },
    })
    expect(outside.seen[0]?.headers).not.toHaveProperty('transfer-encoding')
    expect(outside.seen[0]?.headers).not.toHaveProperty('upgrade')
  })
})
