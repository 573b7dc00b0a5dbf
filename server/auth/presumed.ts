import type { Db } from '@/db/index'
import { perDb } from '@/db/per-db'
import type { PresumedCaller } from '../context'
import { hashApiKey, looksLikeApiKey } from './api-key'
import type { Identity } from './identity'

// Whoever has just sent a good key is presumed to send a good key again, so that a start need not read it first. The
// statement that writes the run checks the key; nothing else may be done for a caller who is only presumed.

/** After this time a key is read again, which also notes its use. */
const KNOWN_MS = 30_000
const MOST_KNOWN = 10_000

interface Known {
  identity: Identity
  until: number
}

const known = perDb(() => new Map<string, Known>())

/** Remembers a key that was read and is good. */
export function keepCaller(db: Db, keyHash: string, identity: Identity): void {
  const all = known(db)
  all.delete(keyHash)
  all.set(keyHash, { identity, until: performance.now() + KNOWN_MS })
  const [oldest] = all.keys()
  if (all.size > MOST_KNOWN && oldest !== undefined) all.delete(oldest)
}

/** Forgets a key until it is read again. */
export function forgetCaller(db: Db, keyHash: string): void {
  known(db).delete(keyHash)
}

export interface Presumption {
  identity: Identity
  presumed: PresumedCaller
}

/** The caller of a request by its key alone, if this process has read that key a moment ago. */
export function presumedCaller(headers: Headers, db: Db): Presumption | null {
  const key = headers.get('x-api-key')
  if (key === null || !looksLikeApiKey(key)) return null
  const keyHash = hashApiKey(key)
  const found = known(db).get(keyHash)
  if (!found || found.until < performance.now()) return null
  const { identity } = found
  const named = headers.get('x-tenant-id')
  if (named !== null && named !== identity.tenantId) return null
  return { identity, presumed: { keyHash, sent: false, confirmed: false } }
}
