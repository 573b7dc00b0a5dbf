import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { withTransaction } from '@/server/context'
import { startRun } from '@/server/runs/start'
import { terminateRun } from '@/server/runs/terminate'
import { setVaultSecret } from '@/server/vault/set'
import { createWebhook } from '@/server/webhooks/create'
import { deliverDue, WAITS_MS } from '@/server/webhooks/deliver'
import { getDelivery, listDeliveries, redeliver, testWebhook } from '@/server/webhooks/deliveries'
import { getWebhook } from '@/server/webhooks/list'
import { rotateWebhook } from '@/server/webhooks/rotate'
import { sweepWebhooks } from '@/server/webhooks/sweep'
import { deleteWebhook, updateWebhook } from '@/server/webhooks/update'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type Receiver, startReceiver, verify } from '../support/receiver'
import { newTenant } from '../support/tenant'

// Without an engine: each test decides when the sweep runs and when a call delivers, on a clock of its own.

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const EVENTS = ['run.started', 'run.terminated']

let database: FreshDatabase
let receiver: Receiver
let stranger: Receiver
let answer = (): number | Promise<number> => 204
let says: string | undefined
let clock = Date.now()
let ctx: ServiceContext
let workflowId: string

beforeAll(async () => {
  database = await freshDatabase()
  receiver = await startReceiver(
    () => answer(),
    () => says,
  )
  stranger = await startReceiver()
  process.env.ALLOW_PRIVATE_HOSTS = `127.0.0.1:${receiver.port}`
})
afterAll(async () => {
  await receiver?.close()
  await stranger?.close()
  await database?.close()
})
beforeEach(async () => {
  answer = () => 204
  says = undefined
  clock = Date.now() + MINUTE
  receiver.attempts.length = 0
  receiver.taken.length = 0
  ctx = { ...(await newTenant(database)), now: () => new Date(clock) }
  const steps = [{ id: 'ask', type: 'collect-inputs', output: { ok: { type: 'string' } } }]
  workflowId = (await createWorkflow(ctx, { name: 'Told', payload: { note: { type: 'string' } }, steps })).id
})

const endpoint = (url = receiver.url) => createWebhook(ctx, { url, events: EVENTS })
const start = async (note = '') => (await startRun(ctx, { workflowId, body: { note } })).runId
const types = (messages: Receiver['taken']) => messages.map(({ body }) => body.type)
const deliveries = async (id: string) => (await listDeliveries(ctx, { id, query: {} })).items

async function startAndEnd(): Promise<string> {
  const runId = await start()
  await terminateRun(ctx, { runId })
  return runId
}

/** Lets time pass. Each minute the sweep runs, and the calls it requests are made. */
async function pass(ms: number, step = MINUTE): Promise<void> {
  for (const end = clock + ms; clock < end; ) {
    clock += step
    await sweep()
  }
}

async function sweep(): Promise<number> {
  await sweepWebhooks({ db: database.db, log: ctx.log, now: () => new Date(clock) })
  const asked = await database.sql<{ id: string }[]>`
    delete from outbox where name = 'webhook/endpoint.due' and tenant_id = ${ctx.tenantId}
    returning data->>'endpointId' as id`
  for (const id of new Set(asked.map(({ id }) => id))) while ((await deliverDue(ctx, id)).more);
  return asked.length
}

describe('a change is reported', () => {
  test('in the commit of the change, in order, signed, once per endpoint that wants it', async () => {
    const { id, secret } = await endpoint()
    const runId = await startAndEnd()
    expect(types(receiver.attempts)).toEqual([])
    expect(await sweep()).toBeGreaterThanOrEqual(2)
    expect(types(receiver.taken)).toEqual(['run.started', 'run.terminated'])
    for (const message of receiver.taken) {
      verify(message, secret, new Date(clock))
      expect(() => verify({ ...message, text: message.text.replace('run', 'ran') }, secret, new Date(clock))).toThrow()
    }
    expect(receiver.taken.map(({ body }) => body.data)).toMatchObject([
      { runId, workflowId, status: 'running', outcome: null },
      { runId, workflowId, status: 'failed', outcome: 'terminated', cancellation: { kind: 'terminate' } },
    ])
    expect(await deliveries(id)).toMatchObject([{ status: 'delivered' }, { status: 'delivered' }])
    expect(await sweep()).toBe(0)
  })

  test('by nothing that is rolled back, and to nobody who did not ask', async () => {
    const count = async () =>
      (await database.sql`select count(*)::int as n from webhook_deliveries where tenant_id = ${ctx.tenantId}`)[0]?.n
    await startAndEnd()
    expect(await count()).toBe(0)
    const { id } = await createWebhook(ctx, { url: receiver.url, events: ['run.completed'] })
    await startAndEnd()
    expect(await count()).toBe(0)
    await updateWebhook(ctx, { id, body: { events: EVENTS } })
    const undone = withTransaction(ctx, async (tx) => {
      await startRun(tx, { workflowId, body: { note: '' } })
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    expect(await count()).toBe(0)
  })

  test('with values of the vault masked', async () => {
    await createWebhook(ctx, { url: receiver.url, events: ['run.terminated'] })
    const runId = await start()
    await terminateRun(ctx, { runId, reason: 'leaked a-very-secret-value here' })
    await setVaultSecret(ctx, { name: 'LEAKED', value: 'a-very-secret-value' })
    await sweep()
    expect(receiver.taken[0]?.text).toContain('leaked *** here')
    expect(receiver.taken[0]?.text).not.toContain('a-very-secret-value')
  })
})

describe('a receiver that is down', () => {
  test('for an hour gets everything, each run in order, every attempt with the same id and body', async () => {
    const { secret } = await endpoint()
    const runs = [await startAndEnd(), await startAndEnd()]
    const up = clock + HOUR
    answer = () => (clock < up ? 503 : 204)
    await pass(50 * MINUTE)
    expect(receiver.taken).toEqual([])
    expect(new Set(types(receiver.attempts))).toEqual(new Set(['run.started']))
    runs.push(await startAndEnd())
    await pass(4 * HOUR, 10 * MINUTE)
    for (const runId of runs) {
      expect(types(receiver.taken.filter(({ body }) => body.data.runId === runId))).toEqual(EVENTS)
    }
    expect(receiver.taken).toHaveLength(6)
    expect(receiver.attempts.length).toBeGreaterThan(9)
    for (const { id, text } of receiver.attempts) {
      expect(receiver.attempts.filter((other) => other.id === id && other.text !== text)).toEqual([])
    }
    // Signed anew for each attempt, so that none is refused as too old.
    expect(new Set(receiver.attempts.map(({ timestamp }) => timestamp)).size).toBeGreaterThan(4)
    for (const message of receiver.taken) verify(message, secret, new Date(message.timestamp * 1000))
    expect(await sweep()).toBe(0)
  })

  test('for days is given up one message at a time; the endpoint is disabled, and says so', async () => {
    const { id } = await endpoint()
    answer = () => 500
    await start()
    const all = WAITS_MS.reduce((sum, wait) => sum + wait, 0)
    await pass(all + 6 * HOUR, 30 * MINUTE)
    const [lost] = await deliveries(id)
    expect(lost).toMatchObject({ status: 'failed', nextAttemptAt: null })
    expect(lost?.attempts).toHaveLength(WAITS_MS.length + 1)
    expect(lost?.attempts[0]).toMatchObject({ status: 500, response: 'not now' })
    expect(await getWebhook(ctx, { id })).toMatchObject({ enabled: true, failingSince: expect.any(String) })

    await start()
    await pass(2 * 24 * HOUR, 30 * MINUTE)
    expect(await getWebhook(ctx, { id })).toMatchObject({ enabled: false, disabledReason: 'failing', waiting: 1 })
    const before = receiver.attempts.length
    await start()
    await pass(HOUR)
    expect(receiver.attempts).toHaveLength(before)

    // Enabled again, it gets the messages that waited, and those sent again by hand.
    answer = () => 204
    const again = await updateWebhook(ctx, { id, body: { enabled: true } })
    expect(again).toMatchObject({ enabled: true, disabledReason: null, failingSince: null })
    await redeliver(ctx, { id, deliveryId: lost?.id ?? '' })
    await pass(24 * HOUR, HOUR)
    expect(receiver.taken.map((message) => message.id).includes(lost?.id ?? '')).toBe(true)
    expect(receiver.taken).toHaveLength(2)
  })

  test('for good, as it says with 410, is disabled at once', async () => {
    const { id } = await endpoint()
    answer = () => 410
    await start()
    await sweep()
    expect(await getWebhook(ctx, { id })).toMatchObject({ enabled: false, disabledReason: 'gone', waiting: 1 })
  })

  test('a redirect is not followed, and an address that is not allowed is not called', async () => {
    const { id } = await endpoint()
    answer = () => 307
    await testWebhook(ctx, { id })
    await sweep()
    expect(receiver.attempts).toHaveLength(1)
    expect((await deliveries(id))[0]?.attempts).toMatchObject([
      { error: expect.stringMatching(/^The server redirects to another address, .* Use the address/) },
    ])
    const blocked = await endpoint()
    // As if the setting had been different when it was saved.
    await database.sql`update webhook_endpoints set url = ${stranger.url} where id = ${blocked.id}`
    await testWebhook(ctx, { id: blocked.id })
    await sweep()
    expect(stranger.attempts).toEqual([])
    const [delivery] = await deliveries(blocked.id)
    expect(delivery?.attempts).toMatchObject([{ status: null, error: expect.stringContaining('127.0.0.1') }])
  })
})

test('a run can end while an endpoint is being deleted, and notifies the others', async () => {
  const going = await endpoint()
  const { id } = await endpoint()
  const runId = await start()
  let ending: Promise<unknown> | undefined
  await database.sql.begin(async (sql) => {
    await sql`delete from webhook_endpoints where id = ${going.id}`
    ending = terminateRun(ctx, { runId })
    ending.catch(() => {})
    const held = () => database.sql`select from pg_locks where not granted
      and pid in (select pid from pg_stat_activity where datname = current_database())`
    await expect.poll(async () => (await held()).length).toBeGreaterThan(0)
  })
  await ending
  await sweep()
  expect(types(receiver.taken)).toEqual(EVENTS)
  expect(await deliveries(id)).toHaveLength(2)
})

test('messages that have waited a month at a disabled endpoint are given up, and not sent when it is enabled', async () => {
  const { id } = await endpoint()
  answer = () => 410
  await start()
  await sweep()
  const before = receiver.attempts.length
  answer = () => 204
  clock += 29 * 24 * HOUR
  await sweep()
  expect(await getWebhook(ctx, { id })).toMatchObject({ enabled: false, waiting: 1 })
  clock += 2 * 24 * HOUR
  await sweep()
  await updateWebhook(ctx, { id, body: { enabled: true } })
  await sweep()
  expect(receiver.attempts).toHaveLength(before)
  const [lost] = await deliveries(id)
  expect(lost).toMatchObject({ status: 'failed', nextAttemptAt: null })
  await redeliver(ctx, { id, deliveryId: lost?.id ?? '' })
  await sweep()
  expect(receiver.taken).toHaveLength(1)
})

test('a message waits for an enabled endpoint, however long no process ran', async () => {
  await endpoint()
  await start()
  clock += 60 * 24 * HOUR
  await sweep()
  expect(receiver.taken).toHaveLength(1)
})

test('a slow endpoint uses one call, and does not delay other endpoints', async () => {
  let letGo = () => {}
  const held = new Promise<void>((done) => {
    letGo = done
  })
  answer = async () => {
    await held
    return 204
  }
  const { id } = await endpoint()
  await start()
  const slow = deliverDue(ctx, id)
  await expect.poll(() => receiver.attempts.length).toBe(1)
  // The event of another run finds the endpoint taken. Its messages are not forgotten.
  await start()
  expect(await deliverDue(ctx, id)).toEqual({ more: false })
  expect(receiver.attempts).toHaveLength(1)
  letGo()
  expect(await slow).toEqual({ more: false })
  expect(receiver.taken).toHaveLength(2)
})

test('a message that cannot be created waits like one that failed, and does not delay the rest', async () => {
  const broken = await endpoint()
  const { id } = await endpoint()
  await database.sql`update webhook_endpoints set secrets = '[{"endsAt": null}]' where id = ${broken.id}`
  await start()
  await sweep()
  expect(receiver.taken).toHaveLength(1)
  expect(await deliveries(id)).toMatchObject([{ status: 'delivered' }])
  const [waiting] = await deliveries(broken.id)
  expect(waiting).toMatchObject({ status: 'pending', attempts: [{ status: null }] })
  expect(await sweep()).toBe(0)
})

describe('a response that cannot be stored as it came', () => {
  test('is cut between characters, and the message is sent once', async () => {
    const { id } = await endpoint()
    await start()
    answer = () => 200
    says = `\0${'x'.repeat(998)}😀 and more`
    await sweep()
    await pass(2 * MINUTE)
    expect(receiver.attempts).toHaveLength(1)
    const [delivery] = await deliveries(id)
    expect(delivery).toMatchObject({
      status: 'delivered',
      attempts: [{ status: 200, response: `\uFFFD${'x'.repeat(998)}` }],
    })
  })

  test('is left out of its attempt, and delays nothing', async () => {
    const { id } = await endpoint()
    answer = () => 200
    says = 'unstorable'
    await database.sql.unsafe(`
      create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$;
      create trigger refuse before update on webhook_deliveries for each row
        when (new.attempts::text like '%unstorable%') execute function refuse()`)
    const runs = [await startAndEnd(), await startAndEnd()]
    await sweep().finally(() => database.sql`drop function refuse cascade`)
    expect(receiver.attempts).toHaveLength(2 * runs.length)
    for (const delivery of await deliveries(id))
      expect(delivery).toMatchObject({ status: 'delivered', attempts: [{ status: 200, error: null, response: null }] })
  })
})

test('a call that dies leaves its endpoint to another after a minute', async () => {
  const { id } = await endpoint()
  await start()
  await database.sql`update webhook_endpoints set leased_until = ${new Date(clock + MINUTE)} where id = ${id}`
  expect(await deliverDue(ctx, id)).toEqual({ more: false })
  expect(receiver.attempts).toHaveLength(0)
  await pass(2 * MINUTE)
  expect(receiver.taken).toHaveLength(1)
})

test('both secrets sign until a rotation is over, and only the new one after that', async () => {
  const { id, secret: old } = await endpoint()
  const rotation = await rotateWebhook(ctx, { id, body: { graceHours: 2 } })
  await testWebhook(ctx, { id })
  await sweep()
  const [during] = receiver.taken
  if (!during) throw new Error('nothing came')
  for (const secret of [old, rotation.secret]) verify(during, secret, new Date(clock))
  expect((await getWebhook(ctx, { id })).secrets).toHaveLength(2)
  clock += 2 * HOUR
  await testWebhook(ctx, { id })
  await sweep()
  const [, after] = receiver.taken
  if (!after) throw new Error('nothing came')
  verify(after, rotation.secret, new Date(clock))
  expect(() => verify(after, old, new Date(clock))).toThrow('no signature matches')
  const [row] = await database.sql`select secrets::text as secrets from webhook_endpoints where id = ${id}`
  expect(row?.secrets).not.toContain('whsec_')
  expect((await getWebhook(ctx, { id })).secrets).toHaveLength(1)
})

test('a message can be read and sent again, and goes with its endpoint and its run', async () => {
  const { id } = await endpoint()
  const runId = await start()
  await sweep()
  const [first] = await deliveries(id)
  const deliveryId = first?.id ?? ''
  expect(JSON.parse((await getDelivery(ctx, { id, deliveryId })).body ?? '')).toMatchObject({ data: { runId } })
  await redeliver(ctx, { id, deliveryId })
  await sweep()
  expect(receiver.attempts).toHaveLength(2)
  expect(receiver.taken).toHaveLength(1)
  const stranger = { ...(await newTenant(database)), now: ctx.now }
  await expect(redeliver(stranger, { id, deliveryId })).rejects.toThrow('Not found')
  await deleteWebhook(ctx, { id })
  const [left] = await database.sql`select count(*)::int as n from webhook_deliveries where tenant_id = ${ctx.tenantId}`
  expect(left?.n).toBe(0)
})

test.each([
  [{ url: 'ftp://example.com', events: EVENTS }, 'url'],
  [{ url: 'https://me:pw@example.com', events: EVENTS }, 'url'],
  [{ url: 'http://192.168.0.1/hooks', events: EVENTS }, 'url'],
  [{ url: 'http://[::1]/hooks', events: EVENTS }, 'url'],
  [{ url: 'http://localhost/hooks', events: EVENTS }, 'url'],
  [{ url: 'https://example.com:0/hooks', events: EVENTS }, 'url'],
  [{ url: 'https://example.com', events: [] }, 'events'],
  [{ url: 'https://example.com', events: ['run.exploded'] }, 'events[0]'],
])('%j is refused with the field at fault', async (input, path) => {
  await expect(createWebhook(ctx, input)).rejects.toMatchObject({ code: 'INVALID_INPUT', details: [{ path }] })
})
