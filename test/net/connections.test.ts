import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { AllowedHosts } from '@/lib/ip'
import { type GuardedRequest, guardedFetch } from '@/server/net/guarded-fetch'

// Connections are pooled for the next call of the same owner to the same checked address, and for nobody else.

let server: Server
let port: number
/** The requests on each connection, in the order of the connections. */
let requests: string[][]
/** Called before a request is answered. */
let onRequest: (socket: Socket, nth: number) => void

beforeEach(async () => {
  requests = []
  onRequest = () => {}
  const connections = new Map<Socket, number>()
  server = createServer((request, response) => {
    const { socket } = request
    const nth = connections.get(socket) ?? connections.set(socket, connections.size).size - 1
    const seen = [...(requests[nth] ?? []), request.method ?? '']
    requests[nth] = seen
    onRequest(socket, seen.length)
    request.resume()
    request.on('end', () => response.end('ok'))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  port = (server.address() as AddressInfo).port
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
})

const allowed = AllowedHosts.parse('127.0.0.1,[::1],name.test') ?? AllowedHosts.none
async function call(owner: string | undefined, request: GuardedRequest = {}, host = '127.0.0.1') {
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  const response = await guardedFetch(`http://${host}:${port}/`, request, { allowed, resolve, owner })
  expect(await response.text()).toBe('ok')
  // The socket is released once the answer has been read.
  await new Promise((next) => setTimeout(next, 20))
  // Once more, because a machine that stood still that long has done nothing else meanwhile.
  for (let turn = 0; turn < 5; turn++) await new Promise((next) => setImmediate(next))
}

test('are used again by the same owner', async () => {
  for (let n = 0; n < 3; n++) await call('a')
  expect(requests).toEqual([['GET', 'GET', 'GET']])
})

test('are never shared between owners, names, or with calls that have no owner', async () => {
  await call('a')
  await call('b')
  await call(undefined)
  await call(undefined)
  await call('a', {}, 'name.test')
  expect(requests).toEqual([['GET'], ['GET'], ['GET'], ['GET'], ['GET']])
})

test('are not used for a request that must not be sent twice', async () => {
  await call('a')
  await call('a', { method: 'POST', body: '1' })
  await call('a', { method: 'POST', body: '1' })
  await call('a', { method: 'POST', body: '1', headers: { 'Idempotency-Key': 'k' } })
  expect(requests).toEqual([['GET', 'POST'], ['POST'], ['POST']])
})

test('that the server closes as a request comes cost the caller nothing', async () => {
  onRequest = (socket, nth) => {
    if (nth > 1) socket.destroy()
  }
  await call('a')
  await call('a', { method: 'POST', body: '1', headers: { 'idempotency-key': 'k' } })
  expect(requests).toEqual([['GET', 'POST'], ['POST']])
})

test('that are new are not tried twice', async () => {
  onRequest = (socket) => void socket.destroy()
  await expect(call('a')).rejects.toMatchObject({ code: 'CONNECTION_ERROR' })
  expect(requests).toEqual([['GET']])
})

test('of a body that was not read are closed', async () => {
  await guardedFetch(`http://127.0.0.1:${port}/`, {}, { allowed, owner: 'a' }).then((response) =>
    response.body?.cancel(),
  )
  await call('a')
  expect(requests).toEqual([['GET'], ['GET']])
})
