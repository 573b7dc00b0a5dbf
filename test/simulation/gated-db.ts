import { drizzle } from 'drizzle-orm/postgres-js'
import type { Db, Sql } from '@/db/index'
import { currentActor } from './actor'
import { now } from './virtual-clock'

type Send = Sql['unsafe']

/** The simulation's hooks into its database. */
export interface Gates {
  /** Changes the text of a statement, to plant a fault. */
  rewrite(text: string): string
  /** A statement may have written. */
  wrote(): void
}

/**
 * A database whose statements the simulation observes. An actor stops before and after each read outside a transaction:
 * there others may change what it has read. Actors do not stop in a transaction, where others would wait for its locks.
 */
export function gatedDb({ $client }: Db, { rewrite, wrote }: Gates): Db {
  const unsafe = (send: Send, reads: boolean) => (text: string, values: never[], options: never) => {
    const isRead = /^\s*select/i.test(text)
    const isGated = reads && isRead
    const query = send(rewrite(text), values, options)
    const sent = (how: () => PromiseLike<unknown>) => {
      if (!isRead) wrote()
      return follow(how, isGated, /\bwalks\b/.test(text))
    }
    return {
      values: () => sent(() => query.values()),
      // biome-ignore lint/suspicious/noThenProperty: it is awaited, as the driver's own query is
      then: (done: never, failed: never) => sent(() => query).then(done, failed),
    }
  }
  const client = {
    options: { parsers: {}, serializers: {} },
    unsafe: unsafe($client.unsafe, true),
    begin: (...args: never[]) => {
      wrote()
      return follow(() => ($client.begin as (...all: never[]) => Promise<unknown>)(...args), false)
    },
    rows: { unsafe: unsafe($client.rows.unsafe.bind($client.rows) as Send, false) },
  }
  return drizzle(client as unknown as Sql, { schema: {}, casing: 'snake_case' }) as unknown as Db
}

/**
 * @param looks whether the read may show who drives the walk now: versions, large values and counts of visits do not
 */
async function follow(send: () => PromiseLike<unknown>, isGated: boolean, looks = true): Promise<unknown> {
  const actor = currentActor()
  if (!actor) return send()
  if (isGated) await actor.gate()
  if (looks) actor.asked = now()
  const found = await actor.track(send())
  if (isGated) await actor.gate()
  return found
}
