import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { getInboundDelivery, replayInboundDelivery } from '@/server/inbound/deliveries'
import type { OneInbound } from '@/server/inbound/find'
import { receiveDelivery } from '@/server/inbound/receive'
import { createInbound, updateInbound } from '@/server/inbound/save'
import { deleteOldRuns } from '@/server/runs/delete-old'
import { keepRuns } from '@/server/tenants/keep-runs'
import { archiveWorkflow, createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

// A delivery's content is stored no longer than the run it started. Without an engine: runs end when a test says so.

const DAY = 24 * 60 * 60_000
const BODY = '{"name":"somebody"}'

let database: FreshDatabase
let clock: number
let ctx: ServiceContext
let one: OneInbound
let path: string
const now = () => new Date(clock)

beforeAll(async () => {
  database = await freshDatabase({ max: 4 })
})
afterAll(() => database?.close())
beforeEach(async () => {
  clock = Date.parse('2026-03-02T09:00:00Z')
  ctx = { ...(await newTenant(database)), now }
  const steps = [{ id: 'ask', type: 'collect-inputs', output: { ok: { type: 'string' } } }]
  const { id: workflowId } = await createWorkflow(ctx, { name: 'From outside', payload: {}, steps })
  const body = { name: 'Anything', scheme: 'none', idHeader: 'x-id' }
  const created = await createInbound(ctx, { workflowId, body })
  one = { workflowId, inboundId: created.id }
  path = created.path
  await keepRuns(ctx, { days: 1 })
})

async function send(id: string): Promise<{ outcome: string; runId: string; deliveryId: string }> {
  const headers = new Headers({ 'content-type': 'application/json', 'x-id': id })
  const hookId = path.split('/').at(-1) ?? ''
  const readBytes = async () => Buffer.from(BODY)
  const arrival = { hookId, headers, query: { a: '1' }, readBytes }
  return (await receiveDelivery({ db: database.db, log: ctx.log, now, requestId: 'test' }, arrival)) as never
}

const filter = (when: string | null) => updateInbound(ctx, { ...one, body: { when } })
const replay = (deliveryId: string) => replayInboundDelivery(ctx, { ...one, deliveryId })
const bodyOf = async (deliveryId: string) => (await getInboundDelivery(ctx, { ...one, deliveryId })).body

/** A run that a delivery started has been deleted. */
async function forget(runId: string | null): Promise<void> {
  await database.sql`
    update runs set status = 'completed', outcome = 'succeeded', end_time = ${now()} where id = ${runId}`
  clock += 3 * DAY
  expect(await deleteOldRuns({ db: database.db, log: ctx.log, now }, async () => true)).toEqual({ deleted: 1 })
}

/** The rows that hold any of the sent content. */
const holders = async () =>
  (
    await database.sql<{ id: string }[]>`
      select id from inbound_deliveries
      where tenant_id = ${ctx.tenantId} and (body is not null or headers <> '{}' or query <> '{}')`
  ).map(({ id }) => id)

test('the contents of a delivery are deleted with its run, and the delivery still counts', async () => {
  const { runId, deliveryId } = await send('one')
  const other = await send('two')
  await forget(runId)
  const deleted = await getInboundDelivery(ctx, { ...one, deliveryId })
  expect(deleted).toMatchObject({ status: 'started', runId, body: null, headers: {}, query: {} })
  await expect(replay(deliveryId)).rejects.toMatchObject({ code: 'CONFLICT' })
  expect(await send('one')).toMatchObject({ outcome: 'duplicate', runId })
  expect(await holders()).toEqual([other.deliveryId])
})

test('a replay that starts no run has the contents of its delivery, and can be replayed, until these are deleted', async () => {
  const first = await send('one')
  await filter('false')
  const second = await replay(first.deliveryId)
  const third = await replay(second.id)
  expect(third).toMatchObject({ status: 'filtered', replayOf: second.id })
  const { body, query } = await getInboundDelivery(ctx, { ...one, deliveryId: third.id })
  expect([body, query]).toEqual([BODY, { a: '1' }])
  await filter(null)
  const fourth = await replay(third.id)
  expect(fourth.status).toBe('started')
  await forget(first.runId)
  expect([await bodyOf(second.id), await bodyOf(third.id), await bodyOf(fourth.id)]).toEqual([null, null, BODY])
  expect(await holders()).toEqual([fourth.id])
})

test('a person reads the deliveries of an archived workflow too', async () => {
  const { deliveryId } = await send('one')
  await archiveWorkflow(ctx, { id: one.workflowId })
  const actor = { kind: 'user', id: 'usr_1', name: 'Viv', sessionId: 's', role: 'owner' } as const
  expect((await getInboundDelivery({ ...ctx, actor }, { ...one, deliveryId })).body).toBe(BODY)
})

test('a filtered delivery is deleted with the run of its replay; another replay keeps its own as long as its run', async () => {
  await filter('false')
  const first = await send('one')
  const second = await replay(first.deliveryId)
  await filter(null)
  const gone = await replay(second.id)
  const kept = await replay(first.deliveryId)
  await forget(gone.runId)
  expect([await bodyOf(first.deliveryId), await bodyOf(second.id), await bodyOf(gone.id)]).toEqual([null, null, null])
  expect(await bodyOf(kept.id)).toBe(BODY)
  await forget(kept.runId)
  expect(await holders()).toEqual([])
})
