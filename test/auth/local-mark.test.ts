import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { markLocal } from '@/cli/local-mark.mjs'

const KEY = 'the key of this process'
const server = createServer((request, response) => {
  markLocal(request, KEY)
  response.end(JSON.stringify(request.headers['x-millrace-local'] ?? null))
})
let port: number
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '0.0.0.0', done))
  port = (server.address() as AddressInfo).port
})
afterAll(() => server.close())

/** Sends a request as it is and returns the mark it got. */
function send(lines: string[], { address = '127.0.0.1', version = '1.1' } = {}): Promise<unknown> {
  return new Promise((done, fail) => {
    const socket = connect(port, address, () => socket.write([`GET / HTTP/${version}`, ...lines, '', ''].join('\r\n')))
    let text = ''
    socket.on('error', fail)
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('end', () => done(JSON.parse(/(null|"[^"]*")/.exec(text.split('\r\n\r\n')[1] ?? '')?.[0] ?? 'undefined')))
  })
}
const CLOSE = 'Connection: close'

test('a request directly from this machine is marked', async () => {
  for (const host of ['localhost:3000', 'localhost', '127.0.0.1:3000', '[::1]:3000'])
    expect(await send([`Host: ${host}`, CLOSE])).toBe(KEY)
})

test.each([
  ['names another host', ['Host: millrace.example.com']],
  ['names a host that begins alike', ['Host: localhost.example.com']],
  ['came through a proxy', ['Host: localhost', 'X-Forwarded-For: 127.0.0.1']],
  ['came through a proxy that says little', ['Host: localhost', 'X-Real-IP: 127.0.0.1']],
  ['came through a standard proxy', ['Host: localhost', 'Forwarded: for=127.0.0.1']],
  ['came through a tunnel', ['Host: localhost', 'CF-Connecting-IP: 127.0.0.1']],
  ['came through another', ['Host: localhost', 'Via: 1.1 proxy']],
])('a request that %s is not marked', async (_, lines) => {
  expect(await send([...lines, CLOSE])).toBeNull()
})

test('an HTTP/1.0 request, which is what proxies send by default, is not marked', async () => {
  expect(await send(['Host: localhost'], { version: '1.0' })).toBeNull()
})

test('a request from another address is not marked, and a mark written by the client is removed', async () => {
  const other = Object.values(networkInterfaces())
    .flat()
    .find((it) => it && it.family === 'IPv4' && !it.internal)
  const mark = ['Host: localhost', `x-millrace-local: ${KEY}`, CLOSE]
  if (other) expect(await send(mark, { address: other.address })).toBeNull()
  expect(await send(['Host: example.com', `X-Millrace-Local: ${KEY}`, CLOSE])).toBeNull()
})
