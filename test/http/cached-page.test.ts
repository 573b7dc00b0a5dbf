import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request as httpRequest, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cachePages, type PageHandler } from '@/server/http/cached-page'

const COLOURS = 'document.documentElement.dataset.scheme = "dark"'
let server: Server
let made: string[] = []

/** As Next answers: in pieces, with scripts that have a nonce. */
const render: PageHandler = async (request, response) => {
  made.push(request.url ?? '')
  response.setHeader('content-type', 'text/html; charset=utf-8')
  response.setHeader('referrer-policy', 'no-referrer')
  response.setHeader(
    'content-security-policy',
    "default-src 'self'; script-src 'self' 'nonce-abc' 'strict-dynamic'; base-uri 'none'",
  )
  response.write(`<html><script data-mantine-script="true" nonce="abc">${COLOURS}</script>`)
  await sleep(5)
  response.write(
    `<link rel="preload" as="script" href="/a.js"/><p>${'It is at '.repeat(500)}<code>http://${request.headers.host}</code></p>`,
  )
  response.end(
    '<script src="/a.js" nonce="abc" async=""></script><script nonce="abc">self.f.push([1,"x"])</script></html>',
  )
}

beforeAll(async () => {
  const pages = cachePages(render)
  server = createServer((request, response) => void pages(request, response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

interface Got {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Got> {
  return new Promise((resolve, reject) => {
    const { port } = server.address() as AddressInfo
    const outgoing = httpRequest({ port, host: '127.0.0.1', path, method, headers }, async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) })
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}

describe('a page that is the same for everybody', () => {
  test('is made once, for all callers and addresses', async () => {
    made = []
    const asked = Array.from({ length: 60 }, (_, n) =>
      get(`/reference?n=${n}`, {
        host: `host-${n % 30}.example.com`,
        cookie: 'a=b',
        rsc: '1',
        'accept-encoding': n % 2 ? 'br' : 'gzip',
      }),
    )
    const all = await Promise.all(asked)
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 200))
    expect(made).toEqual(['/reference'])
    all.forEach(({ headers, body }, n) => {
      const coding = headers['content-encoding']
      const text = coding === 'br' ? brotliDecompressSync(body) : coding === 'gzip' ? gunzipSync(body) : body
      expect(text.toString()).toContain(`<code>http://host-${n % 30}.example.com</code>`)
    })
    // Copies are cached for a few addresses only; the others get the page unchanged.
    expect(all.filter(({ headers }) => headers['content-encoding']).length).toBeLessThanOrEqual(24)
  })

  test('is not sent to a reader who has it, and differs from the same page at another address', async () => {
    const { headers, body } = await get('/reference', { host: 'a.example.com' })
    expect(Number(headers['content-length'])).toBe(body.byteLength)
    const etag = String(headers.etag)
    const again = await get('/reference', { host: 'a.example.com', 'if-none-match': `W/${etag}` })
    expect([again.status, again.body.byteLength, again.headers.etag]).toEqual([304, 0, etag])
    const other = await get('/reference', { host: 'b.example.com', 'if-none-match': etag })
    expect(other.status).toBe(200)
    expect((await get('/reference', { host: 'a.example.com' }, 'HEAD')).headers['content-length']).toBe(
      headers['content-length'],
    )
  })

  test('is a document: only the script that sets its colours is left, and only that may run', async () => {
    const { body, headers } = await get('/reference', { host: 'a.example.com' })
    expect(body.toString().match(/<script[^>]*>/g)).toEqual(['<script data-mantine-script="true">'])
    expect(body.toString()).not.toContain('/a.js')
    const script = /<script[^>]*>(.*)<\/script>/s.exec(body.toString())?.[1] ?? ''
    expect(script).toContain(COLOURS)
    const hash = createHash('sha256').update(script).digest('base64')
    expect(headers['content-security-policy']).toBe(`default-src 'self'; script-src 'sha256-${hash}'; base-uri 'none'`)
    expect(headers['referrer-policy']).toBe('no-referrer')
  })

  test('takes no address from a caller that is none', async () => {
    const { body } = await get('/reference', { host: '"><script>alert(1)</script>' })
    expect(body.toString()).not.toContain('alert(1)')
  })
})

test('a page that cannot be made whole is made for each who asks, and not tried anew each time', async () => {
  let times = 0
  const pages = cachePages(async (_request, response) => {
    times++
    response.statusCode = 500
    response.end('sorry')
  })
  const failing = createServer((request, response) => void pages(request, response))
  await once(failing.listen(0, '127.0.0.1'), 'listening')
  const { port } = failing.address() as AddressInfo
  for (let n = 0; n < 3; n++) expect((await fetch(`http://127.0.0.1:${port}/reference`)).status).toBe(500)
  expect(times).toBe(4)
  failing.closeAllConnections()
  failing.close()
})

test('every other page is made for each who asks', async () => {
  made = []
  for (const path of ['/', '/sign-in', '/references', '/engines/reference']) await get(path)
  await get('/reference', {}, 'POST')
  expect(made).toEqual(['/', '/sign-in', '/references', '/engines/reference', '/reference'])
})
