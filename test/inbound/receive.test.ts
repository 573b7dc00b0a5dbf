import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { isUnavailable } from '@/db/index'
import type { ServiceContext } from '@/server/context'
import type { JsonObject } from '@/server/definition/json'
import { AppError } from '@/server/errors'
import { getInboundDelivery, listInboundDeliveries, replayInboundDelivery } from '@/server/inbound/deliveries'
import { getInbound } from '@/server/inbound/list'
import { receiveDelivery } from '@/server/inbound/receive'
import { rotateInbound } from '@/server/inbound/rotate'
import { createInbound, updateInbound } from '@/server/inbound/save'
import { sweepInbound } from '@/server/inbound/sweep'
import { tryInbound } from '@/server/inbound/try'
import { archiveWorkflow, createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

// On a clock of its own, and without an engine: started runs do not progress.

const NOW = Date.parse('2026-03-02T09:00:00Z')
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const SECRET = 'the secret of the sender'
const ISSUE = { action: 'opened', issue: { number: 7, title: 'It drips', draft: false } }
const START = {
  title: { type: 'string' },
  number: { type: 'integer' },
  action: { type: 'string', required: false },
  urgent: { type: 'boolean', default: false },
}
const MAPPING = { title: '${body.issue.title}', number: '${body.issue.number}' }

type Texts = Record<string, string>

let database: FreshDatabase
let clock = NOW
let ctx: ServiceContext
let workflowId: string
const now = () => new Date(clock)

beforeAll(async () => {
  vi.stubEnv('RATE_LIMIT_STARTS', '120')
  database = await freshDatabase({ max: 10 })
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await database?.close()
})
beforeEach(async () => {
  clock = NOW
  ctx = { ...(await newTenant(database)), now }
  workflowId = await newWorkflow()
})

const newWorkflow = async (payload: object = START) => {
  const steps = [{ id: 'ask', type: 'collect-inputs', output: { ok: { type: 'string' } } }]
  return (await createWorkflow(ctx, { name: 'From outside', payload, steps })).id
}

/** A new inbound webhook, with a way to send to it. */
async function inbound(more: object = {}) {
  const body = { name: 'Issues', scheme: 'github', secret: SECRET, mapping: MAPPING, ...more }
  const { id, path } = await createInbound(ctx, { workflowId, body })
  const one = { workflowId, inboundId: id }
  const arrive = (text: string, headers: Texts = {}, query: Texts = {}) =>
    receiveDelivery(
      { db: database.db, log: ctx.log, now, requestId: 'test' },
      {
        hookId: path.split('/').at(-1) ?? '',
        headers: new Headers({ 'content-type': 'application/json', ...headers }),
        query,
        readBytes: async () => Buffer.from(text),
      },
    )
  /** As GitHub does. */
  const send = (body: unknown, delivery: string, headers: Texts = {}, query: Texts = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const signature = `sha256=${createHmac('sha256', SECRET).update(text).digest('hex')}`
    return arrive(text, { 'x-hub-signature-256': signature, 'x-github-delivery': delivery, ...headers }, query)
  }
  const list = async () => (await listInboundDeliveries(ctx, { ...one, query: {} })).items
  return { ...one, arrive, send, list }
}

const runs = () => database.sql<{ id: string; input: JsonObject; started_by: string; started_via: string }[]>`
  select id, input, started_by, started_via from runs where tenant_id = ${ctx.tenantId} order by id`

describe('a delivery starts at most one run', () => {
  test('50 concurrent deliveries are one run, and all get its id', async () => {
    const { send, list, inboundId } = await inbound()
    const answers = await Promise.all(Array.from({ length: 50 }, () => send(ISSUE, 'one')))
    const [run, ...others] = await runs()
    expect(others).toEqual([])
    expect(run).toMatchObject({ started_by: inboundId, started_via: 'system' })
    expect(run?.input).toEqual({ title: 'It drips', number: 7, action: 'opened', urgent: false })
    expect(answers.map((answer) => 'runId' in answer && answer.runId)).toEqual(Array(50).fill(run?.id))
    const outcomes = answers.map((answer) => 'outcome' in answer && answer.outcome)
    expect(outcomes.filter((outcome) => outcome === 'started')).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome === 'duplicate')).toHaveLength(49)
    expect(await list()).toHaveLength(1)
  })

  test('the sender’s id counts for as long as deliveries are kept, and another one is another delivery', async () => {
    const { send } = await inbound()
    const first = await send(ISSUE, 'one')
    clock += 29 * DAY
    await sweepInbound({ db: database.db, log: ctx.log, now })
    expect(await send(ISSUE, 'one')).toEqual({ ...first, outcome: 'duplicate' })
    expect(await send(ISSUE, 'two')).toMatchObject({ outcome: 'started' })
    expect(await runs()).toHaveLength(2)
  })

  test('without an id, equal ones within five minutes are one', async () => {
    const { arrive } = await inbound({ scheme: 'hmac', signatureHeader: 'X-Signature', idHeader: 'X-Id' })
    const text = JSON.stringify(ISSUE)
    const signed = { 'x-signature': createHmac('sha256', SECRET).update(text).digest('hex') }
    expect(await arrive(text, signed)).toMatchObject({ outcome: 'started' })
    clock += 5 * MINUTE
    // The query is not signed, and the signature can be written in two ways.
    expect(await arrive(text, signed, { other: '1' })).toMatchObject({ outcome: 'duplicate' })
    expect(await arrive(text, { 'x-signature': signed['x-signature'].toUpperCase() })).toMatchObject({
      outcome: 'duplicate',
    })
    clock += 1
    const again = await Promise.all([arrive(text, signed), arrive(text, signed), arrive(text, signed)])
    expect(again.filter((answer) => 'outcome' in answer && answer.outcome === 'started')).toHaveLength(1)
    expect(await arrive(text, { ...signed, 'x-id': 'a' })).toMatchObject({ outcome: 'started' })
    expect(await arrive(text, { ...signed, 'x-id': 'a' })).toMatchObject({ outcome: 'duplicate' })
    expect(await runs()).toHaveLength(3)
  })

  test.each([
    ['stripe', { id: 'evt_1' }],
    ['stripe', { type: 'an event without an id' }],
    ['slack', { event_id: 'Ev1' }],
    ['slack', { type: 'block_actions' }],
  ])('the content type, which nobody signs, makes no other delivery of one of %s: %j', async (scheme, body) => {
    const { arrive } = await inbound({ scheme, mapping: { title: '"x"', number: '1' } })
    const [text, time] = [JSON.stringify(body), clock / 1000]
    const signed = (what: string) => createHmac('sha256', SECRET).update(what).digest('hex')
    const headers: Texts = {
      'stripe-signature': `t=${time},v1=${signed(`${time}.${text}`)}`,
      'x-slack-request-timestamp': `${time}`,
      'x-slack-signature': `v0=${signed(`v0:${time}:${text}`)}`,
    }
    const types = ['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'application/a+json', 'x']
    const answers = []
    for (const type of types) answers.push(await arrive(text, { ...headers, 'content-type': type }, { q: type }))
    expect(answers.map((answer) => 'outcome' in answer && answer.outcome)).toEqual([
      'started',
      ...Array(4).fill('duplicate'),
    ])
    expect(await runs()).toHaveLength(1)
  })

  test('one that was refused may be sent again once the reason is gone', async () => {
    const { send, list, ...one } = await inbound({ mapping: { title: '${body.nothing}' } })
    await expect(send(ISSUE, 'one')).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await updateInbound(ctx, { ...one, body: { mapping: MAPPING } })
    expect(await send(ISSUE, 'one')).toMatchObject({ outcome: 'started' })
    expect((await list()).map(({ status }) => status)).toEqual(['started', 'invalid'])
    expect((await list())[1]?.error).toContain('${body.nothing} has no value')
  })
})

test.each([
  ['57014', 'cancels the statement'],
  ['40P01', 'finds a deadlock'],
  ['40001', 'cannot serialize it'],
])('a start that Postgres ends with %s, because it %s, is not decided and may be sent again', async (code) => {
  const { send, list, ...one } = await inbound()
  const { sql } = database
  const first = await send(ISSUE, 'one')
  await sql.unsafe(`
    create function ends() returns trigger language plpgsql as $$ begin raise 'ended' using errcode = '${code}'; end $$;
    create trigger ends before insert on runs for each row execute function ends()`)
  const deliveryId = 'deliveryId' in first ? first.deliveryId : ''
  const failures = await Promise.allSettled([send(ISSUE, 'two'), replayInboundDelivery(ctx, { ...one, deliveryId })])
  await sql`drop function ends cascade`
  for (const failure of failures) expect(failure.status === 'rejected' && statusOf(failure.reason)).toBe(503)
  expect(await list()).toHaveLength(1)
  expect(await send(ISSUE, 'two')).toMatchObject({ outcome: 'started' })
})

/** The sender's response. */
const statusOf = (err: unknown) => (isUnavailable(err) ? 503 : err instanceof AppError && err.status)

test('an unsigned request learns nothing, and leaves only the last reason', async () => {
  const { arrive, send, list, ...one } = await inbound()
  const wrong = { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }
  for (let i = 0; i < 5; i++)
    await expect(arrive(JSON.stringify(ISSUE), wrong)).rejects.toMatchObject({ code: 'UNAUTHORIZED', details: [] })
  await expect(arrive('{')).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  expect(await list()).toEqual([])
  expect((await getInbound(ctx, one)).refused).toEqual({
    at: now().toISOString(),
    reason: 'The signature does not match.',
  })
  // Paused, it reports that only to its sender.
  await updateInbound(ctx, { ...one, body: { enabled: false } })
  await expect(arrive(JSON.stringify(ISSUE), wrong)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  await expect(send(ISSUE, 'one')).rejects.toMatchObject({ code: 'CONFLICT' })
  expect(await runs()).toEqual([])
})

test('each inbound webhook has the limit of one caller, and requests refused by it are not stored', async () => {
  const quiet = { scheme: 'none', secret: undefined, idHeader: 'x-id', when: 'false' }
  const { arrive, list } = await inbound(quiet)
  const { RATE_LIMITED, filtered } = await outcomes(
    Array.from({ length: 130 }, (_, i) => arrive('{}', { 'x-id': `${i}` })),
  )
  expect([filtered, RATE_LIMITED]).toEqual([120, 10])
  expect((await list()).length).toBe(50)
  const { arrive: other } = await inbound(quiet)
  expect(await other('{}')).toMatchObject({ outcome: 'filtered' })
})

/** Deliveries by result. */
async function outcomes(all: Promise<object>[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const settled of await Promise.allSettled(all)) {
    const name = settled.status === 'rejected' ? settled.reason.code : (settled.value as { outcome: string }).outcome
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

test('a rotated secret is accepted until its time is up, and the new one at once', async () => {
  const { send, ...one } = await inbound()
  await rotateInbound(ctx, { ...one, body: { secret: 'another secret', graceHours: 1 } })
  expect(await send(ISSUE, 'one')).toMatchObject({ outcome: 'started' })
  clock += 60 * MINUTE
  await expect(send(ISSUE, 'two')).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  expect((await getInbound(ctx, one)).secrets).toHaveLength(1)
})

describe('the filter and the mapping', () => {
  test('a filter that is false, or has no value, starts nothing and says why', async () => {
    const { send, list } = await inbound({ when: '${body.action} == "opened"' })
    expect(await send({ ...ISSUE, action: 'closed' }, 'one')).toMatchObject({ outcome: 'filtered', runId: null })
    expect(await send({}, 'two')).toMatchObject({ outcome: 'filtered' })
    expect(await send(ISSUE, 'ping', { 'x-github-event': 'ping' })).toMatchObject({ outcome: 'filtered' })
    expect(await send(ISSUE, 'three')).toMatchObject({ outcome: 'started' })
    expect(await send({ ...ISSUE, action: 'closed' }, 'one')).toMatchObject({ outcome: 'duplicate', runId: null })
    expect((await list()).map(({ error }) => error)).toEqual([
      null,
      'A ping starts no run.',
      'The filter has no value: ${body.action} has no value',
      'The filter is false.',
    ])
  })

  test('headers, the query and forms are texts, which become what a field asks for', async () => {
    const mapping = {
      title: '${headers.x-github-event} + "/" + ${query.team}',
      number: '${query.number}',
      urgent: '${headers.x-urgent}',
    }
    const { arrive } = await inbound({ scheme: 'none', secret: undefined, mapping })
    await arrive(
      'plain',
      { 'content-type': 'text/plain', 'x-github-event': 'issues', 'x-urgent': 'true' },
      { team: 'a', number: '7' },
    )
    expect((await runs())[0]?.input).toEqual({ title: 'issues/a', number: 7, urgent: true })
    const { arrive: form } = await inbound({ scheme: 'none', secret: undefined, mapping: {} })
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    await form('title=A+form&number=12&urgent=true&__proto__=1', type)
    await form(`payload=${encodeURIComponent('{"title":"From Slack","number":1}')}`, type)
    expect((await runs()).slice(1).map(({ input }) => input)).toEqual([
      { title: 'A form', number: 12, urgent: true },
      { title: 'From Slack', number: 1, urgent: false },
    ])
  })

  test('a body’s own `data` gives no fields, as it would in a start', async () => {
    const { send } = await inbound({ mapping: {} })
    await send({ title: 'Outer', number: 1, data: { title: 'Inner', object: {} } }, 'one')
    expect((await runs())[0]?.input).toMatchObject({ title: 'Outer' })
  })

  test('neither expressions nor stored deliveries have headers that may let a person in, but they have those that only sound so', async () => {
    const secrets = {
      authorization: 'Bearer s3cret',
      cookie: 's3cret',
      'x-api-key': 's3cret',
      'x-millrace-local': 's3cret',
      'x-hub-signature': 's3cret',
    }
    const sounds = { author: 'ada', authorized_amount: '12', key: 'PROJ-1' }
    const { send, list, ...one } = await inbound({ mapping: { ...MAPPING, action: '${headers.cookie}' } })
    await send(
      ISSUE,
      'one',
      { ...secrets, 'x-github-event': 'issues' },
      { 'x-vercel-protection-bypass': 's3cret', ...sounds },
    )
    expect((await runs())[0]?.input).toMatchObject({ title: 'It drips', urgent: false })
    const [delivery] = await list()
    const whole = await getInboundDelivery(ctx, { ...one, deliveryId: delivery?.id ?? '' })
    expect(whole.query).toEqual(sounds)
    expect(whole.headers).toEqual({
      'content-type': 'application/json',
      'x-github-delivery': 'one',
      'x-github-event': 'issues',
    })
    const stored = await database.sql`select * from inbound_webhooks, inbound_deliveries`
    expect(JSON.stringify(stored)).not.toMatch(new RegExp(`s3cret|${SECRET}`))
  })

  test('a mapping of a field that START does not have, or of anything but the delivery, is not saved', async () => {
    const paths = async (more: object) =>
      inbound(more).then(
        () => [],
        (err) => err.details.map(({ path }: { path: string }) => path),
      )
    expect(await paths({ mapping: { nothing: '${body.x}' } })).toEqual(['mapping.nothing'])
    expect(await paths({ mapping: { title: '${secrets.x}' } })).toEqual(['mapping.title'])
    expect(await paths({ when: '${body.action} ==' })).toEqual(['when'])
    expect(await paths({ scheme: 'hmac' })).toEqual(['signatureHeader'])
    expect(await paths({ scheme: undefined })).toEqual(['scheme'])
    expect(await paths({ scheme: 'none' })).toEqual(['secret'])
    expect(await paths({ scheme: 'standard' })).toEqual(['secret'])
  })

  test('a try shows what a delivery would start, starts nothing and is not kept', async () => {
    const { list, ...one } = await inbound()
    const when = '${body.action} == "opened"'
    const good = await tryInbound(ctx, { ...one, body: { body: ISSUE, when } })
    expect(good).toEqual({
      starts: true,
      filtered: null,
      data: { title: 'It drips', number: 7, action: 'opened', urgent: false },
      problems: [],
    })
    const bad = await tryInbound(ctx, { ...one, body: { body: { action: 'closed' }, when } })
    expect(bad).toMatchObject({ starts: false, filtered: 'The filter is false.' })
    expect(bad.problems.map(({ path }) => path)).toEqual(['title', 'number'])
    expect([await list(), await runs()]).toEqual([[], []])
  })
})

describe('replay', () => {
  test('is a delivery of its own, decided by the mapping as it is now', async () => {
    const { send, list, ...one } = await inbound()
    const first = await send(ISSUE, 'one')
    await updateInbound(ctx, { ...one, body: { mapping: { ...MAPPING, title: '"Again: " + ${body.issue.title}' } } })
    const deliveryId = 'deliveryId' in first ? first.deliveryId : ''
    const replay = await replayInboundDelivery(ctx, { ...one, deliveryId })
    expect(replay).toMatchObject({ status: 'started', replayOf: deliveryId, replayedBy: ctx.actor.id })
    const [, second] = await runs()
    expect(second).toMatchObject({ id: replay.runId, started_by: one.inboundId, input: { title: 'Again: It drips' } })
    expect(await list()).toHaveLength(2)
  })

  test('of a workflow that is archived is refused, and the reason is kept', async () => {
    const { send, list, ...one } = await inbound()
    const first = await send(ISSUE, 'one')
    await archiveWorkflow(ctx, { id: workflowId })
    await expect(send(ISSUE, 'two')).rejects.toMatchObject({ code: 'WORKFLOW_ARCHIVED' })
    const deliveryId = 'deliveryId' in first ? first.deliveryId : ''
    expect(await replayInboundDelivery(ctx, { ...one, deliveryId })).toMatchObject({ status: 'refused', runId: null })
    expect((await list()).map(({ error }) => error)).toEqual([...Array(2).fill('The workflow is archived'), null])
  })
})

test('Slack’s challenge is answered, and what it shows to people is nothing', async () => {
  const { arrive, list } = await inbound({ scheme: 'slack' })
  const send = (text: string, type: string) => {
    const time = String(clock / 1000)
    const signature = `v0=${createHmac('sha256', SECRET).update(`v0:${time}:${text}`).digest('hex')}`
    const headers = { 'x-slack-request-timestamp': time, 'x-slack-signature': signature, 'content-type': type }
    return arrive(text, headers)
  }
  const challenge = { type: 'url_verification', challenge: '3eZbrw1a' }
  expect(await send(JSON.stringify(challenge), 'application/json')).toEqual({ challenge: '3eZbrw1a' })
  expect(await list()).toEqual([])
  const button = `payload=${encodeURIComponent(JSON.stringify(ISSUE))}`
  const pressed = await send(button, 'application/x-www-form-urlencoded')
  expect(pressed).toMatchObject({ outcome: 'started', silent: true })
  expect(await send(button, 'application/x-www-form-urlencoded')).toMatchObject({ outcome: 'duplicate' })
  // The same button a minute later is pressed again.
  clock += MINUTE
  expect(await send(button, 'application/x-www-form-urlencoded')).toMatchObject({ outcome: 'started' })
})

test('deliveries are kept for 30 days', async () => {
  const { send, list } = await inbound()
  await send(ISSUE, 'one')
  clock += 30 * DAY + 1
  await sweepInbound({ db: database.db, log: ctx.log, now })
  expect(await list()).toEqual([])
})
