import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { startRun } from '@/server/runs/start'
import { terminateRun } from '@/server/runs/terminate'
import { createWebhook } from '@/server/webhooks/create'
import { deliverDue } from '@/server/webhooks/deliver'
import { rotateWebhook } from '@/server/webhooks/rotate'
import { sweepWebhooks } from '@/server/webhooks/sweep'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

// A receiver as a developer writes it who has only the specification's own library.

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const EVENTS = ['run.started', 'run.terminated']

let database: FreshDatabase
let ctx: ServiceContext
let workflowId: string
let clock = Date.now() + MINUTE

beforeAll(async () => {
  database = await freshDatabase()
  ctx = { ...(await newTenant(database)), now: () => new Date(clock) }
  const steps = [{ id: 'ask', type: 'collect-inputs', output: { ok: { type: 'string' } } }]
  workflowId = (await createWorkflow(ctx, { name: 'Told', steps })).id
})
afterAll(async () => {
  await database?.close()
})

interface Message {
  type: string
  data: { runId: string }
}

/** Verifies with the library, on the clock of this test. */
function verified(secret: string, text: string, headers: IncomingHttpHeaders): Message {
  vi.useFakeTimers({ toFake: ['Date'], now: clock })
  try {
    return new Webhook(secret).verify(text, headers as Record<string, string>) as Message
  } finally {
    vi.useRealTimers()
  }
}

/** Processes each message once. A message whose response is lost was processed nevertheless, and arrives again. */
function startReceiver(secretOf: () => string, loses: (attempt: number) => boolean) {
  const seen = new Set<string>()
  const done: Message[] = []
  const counts = { attempts: 0, duplicates: 0, refused: 0 }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    counts.attempts += 1
    try {
      const message = verified(secretOf(), Buffer.concat(chunks).toString('utf8'), request.headers)
      const id = String(request.headers['webhook-id'])
      if (seen.has(id)) counts.duplicates += 1
      else done.push(message)
      seen.add(id)
    } catch {
      counts.refused += 1
      response.writeHead(401).end()
      return
    }
    if (loses(counts.attempts)) request.socket.destroy()
    else response.writeHead(204).end()
  })
  return { server, done, counts }
}

async function pass(ms: number, step: number): Promise<void> {
  for (const end = clock + ms; clock < end; ) {
    clock += step
    await sweepWebhooks({ db: database.db, log: ctx.log, now: () => new Date(clock) })
    const asked = await database.sql<{ id: string }[]>`
      delete from outbox where name = 'webhook/endpoint.due' and tenant_id = ${ctx.tenantId}
      returning data->>'endpointId' as id`
    for (const id of new Set(asked.map(({ id }) => id))) while ((await deliverDue(ctx, id)).more);
  }
}

async function startAndEnd(): Promise<string> {
  const { runId } = await startRun(ctx, { workflowId, body: {} })
  await terminateRun(ctx, { runId })
  return runId
}

test('a receiver built with the standardwebhooks package verifies all, is down for an hour, and processes each message once', async () => {
  let secret = ''
  // Every third response is lost.
  const { server, done, counts } = startReceiver(
    () => secret,
    (attempt) => attempt % 3 === 0,
  )
  const listen = (port: number) => new Promise<void>((ready) => server.listen(port, '127.0.0.1', ready))
  await listen(0)
  const { port } = server.address() as AddressInfo
  process.env.ALLOW_PRIVATE_HOSTS = `127.0.0.1:${port}`
  const { id, secret: made } = await createWebhook(ctx, { url: `http://127.0.0.1:${port}/hooks`, events: EVENTS })
  secret = made
  try {
    const runs = [await startAndEnd(), await startAndEnd(), await startAndEnd()]
    await pass(5 * MINUTE, MINUTE)

    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
    runs.push(await startAndEnd(), await startAndEnd())
    await pass(HOUR, MINUTE)
    const before = done.length
    runs.push(await startAndEnd())
    await listen(port)
    // Attempts after an hour without a response wait for hours.
    await pass(48 * HOUR, HOUR)
    expect(done.length - before).toBeGreaterThanOrEqual(6)

    for (const runId of runs)
      expect(done.filter(({ data }) => data.runId === runId).map(({ type }) => type)).toEqual(EVENTS)
    expect(done).toHaveLength(2 * runs.length)
    expect(counts.duplicates).toBeGreaterThan(0)
    expect(counts.refused).toBe(0)

    // With a new secret at once, and the old one for as long as it is accepted.
    const rotated = await rotateWebhook(ctx, { id, body: {} })
    const last = await startAndEnd()
    await pass(5 * MINUTE, MINUTE)
    secret = rotated.secret
    await startAndEnd()
    await pass(HOUR, 10 * MINUTE)
    expect(counts.refused).toBe(0)
    expect(done.filter(({ data }) => data.runId === last)).toHaveLength(2)
    // A receiver refuses what another key signed.
    secret = `whsec_${Buffer.alloc(32).toString('base64')}`
    await startAndEnd()
    await pass(5 * MINUTE, MINUTE)
    expect(counts.refused).toBeGreaterThan(0)
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
