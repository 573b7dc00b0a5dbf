import type { Visitor } from '@/server/auth/visitor'
import type { Log } from '@/server/log'
import type { FreshDatabase } from '../support/db'

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent }
let visitors = 0

/** A visitor who is not signed in, with a unique address unless the headers give one. */
export function visitor(database: FreshDatabase, headers: Record<string, string> = {}): Visitor {
  visitors += 1
  const address = `10.1.${visitors >> 8}.${visitors & 255}`
  return {
    db: database.db,
    headers: new Headers({ 'x-forwarded-for': address, ...headers }),
    log: silent,
    now: () => new Date(),
    requestId: 'test',
  }
}
