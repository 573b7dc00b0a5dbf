import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Db } from '@/db/index'
import { outbox } from '@/db/schema/outbox'
import { createRelay, forwardOnce } from '@/inngest/relay'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { until } from './support'

/** A poll too late to explain the test's observation. */
const NEVER_MS = 3_600_000
const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log }

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
  await database.db.execute(sql`insert into tenants (id, slug, name) values ('ten_1', 'one', 'One')`)
})
afterAll(() => database?.close())

/** The database, with a callback when a query finds the outbox empty. */
function telling(db: Db, empty: () => void): Db {
  const wrap = (target: object, wanted: string, seen: (result: unknown) => unknown): object =>
    new Proxy(target, {
      get(of, name) {
        const value = Reflect.get(of, name)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          const result = value.apply(of, args)
          return name === wanted ? seen(result) : result
        }
      },
    })
  const chain = ['update', 'set', 'where', 'returning']
  const follow = (target: object, depth: number): object =>
    wrap(target, chain[depth] ?? '', (result) =>
      depth < chain.length - 1
        ? follow(result as object, depth + 1)
        : (result as Promise<unknown[]>).then((rows) => {
            if (rows.length === 0) empty()
            return rows
          }),
    )
  return follow(db, 0) as Db
}

/** Does the work after this many turns of the microtask queue. */
function turnsLater(turns: number, work: () => void): void {
  if (turns === 0) work()
  else queueMicrotask(() => turnsLater(turns - 1, work))
}

test.each(Array.from({ length: 12 }, (_, turns) => turns))(
  'a kick %i turns after the last look makes another look at once',
  async (turns) => {
    let looks = 0
    const db = telling(database.db, () => {
      looks++
      if (looks === 1) turnsLater(turns, () => relay.kick())
    })
    const relay = createRelay({ db, send: async () => undefined, log, pollMs: NEVER_MS })
    relay.start()
    await until(() => looks >= 2)
    await relay.stop()
  },
)

test('a row committed while the relay is busy is forwarded without waiting for the poll', async () => {
  const sent: string[] = []
  const add = (id: string) =>
    database.db.insert(outbox).values({ id, tenantId: 'ten_1', name: 'a/b', data: {}, createdAt: new Date() })
  const relay = createRelay({
    db: database.db,
    log,
    pollMs: NEVER_MS,
    send: async (events) => {
      if (sent.length === 0) {
        await add('evt_2')
        relay.kick()
      }
      sent.push(...events.map(({ id }) => id))
    },
  })
  await add('evt_1')
  relay.start()
  await until(() => sent.length === 2)
  expect(sent).toEqual(['evt_1', 'evt_2'])
  await relay.stop()
})

test('a row that could not be sent is sent at the next look, by whichever process looks', async () => {
  await database.db
    .insert(outbox)
    .values({ id: 'evt_3', tenantId: 'ten_1', name: 'a/b', data: {}, createdAt: new Date() })
  await expect(forwardOnce(database.db, () => Promise.reject(new Error('refused')))).rejects.toThrow('refused')
  const sent: string[] = []
  await forwardOnce(database.db, async (events) => sent.push(...events.map(({ id }) => id)))
  expect(sent).toEqual(['evt_3'])
})
