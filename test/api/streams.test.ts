import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, startApi } from '../support/api'

const PLACES = 10

let api: Api
let path: string
beforeAll(async () => {
  api = await startApi({ STREAMS_PER_TENANT: String(PLACES) })
  const ask = { id: 'ask', type: 'collect-inputs', output: { note: { type: 'string' } } }
  const { body } = await api.call('POST', '/api/workflows', { name: 'Waits', steps: [ask] })
  const { body: run } = await api.call('POST', `/api/workflow/start/${body.id}`, {})
  path = `/api/workflow/events/${run.runId}`
})
afterAll(() => api.stop())

const headers = () => ({ 'x-api-key': api.apiKey })

async function open(): Promise<{ status: number; close(): void; response: Response }> {
  const caller = new AbortController()
  const response = await fetch(`${api.url}${path}`, { headers: headers(), signal: caller.signal })
  return { status: response.status, close: () => caller.abort(), response }
}

/** Sends a request, and hangs up before an answer can arrive. */
function hangUp(method: string): Promise<void> {
  const { hostname, port } = new URL(api.url)
  return new Promise((done) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`${method} ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${api.apiKey}\r\n\r\n`, () => socket.destroy())
    })
    socket.once('close', () => done())
  })
}

/** Opens streams until one is refused. @returns how many were accepted */
async function fill(): Promise<{ opened: Awaited<ReturnType<typeof open>>[]; refused: Response }> {
  const opened = []
  for (;;) {
    const one = await open()
    if (one.status !== 200) return { opened, refused: one.response }
    opened.push(one)
  }
}

test('one stream too many gets a time to retry; streams that ended, in any way, no longer count', async () => {
  const full = await fill()
  expect(full.opened).toHaveLength(PLACES)
  expect(full.refused.status).toBe(429)
  expect(Number(full.refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await full.refused.json()).toMatchObject({ error: { code: 'TOO_MANY_STREAMS' } })
  const chat = await api.call('POST', '/api/chat', { agentId: 'agt_nobody', message: 'Hello' })
  expect([chat.status, chat.body.error.code]).toEqual([429, 'TOO_MANY_STREAMS'])
  for (const one of full.opened) one.close()

  for (let i = 0; i < 30; i++) {
    await Promise.all([hangUp('GET'), hangUp('HEAD'), open().then(({ close }) => close())])
    await fetch(`${api.url}${path}`, { method: 'HEAD', headers: headers() })
  }
  // The service notices a moment later that a caller hung up.
  let free = 0
  for (const until = Date.now() + 60_000; free < PLACES && Date.now() < until; await sleep(100)) {
    const { opened } = await fill()
    free = opened.length
    for (const one of opened) one.close()
  }
  expect(free).toBe(PLACES)
})
