import { sql } from 'drizzle-orm'
import type { Db } from '@/db/index'
import { perDb } from '@/db/per-db'
import type { PresumedCaller, ServiceContext } from '../context'
import { CallerUnconfirmed } from '../errors'
import { hashApiKey, looksLikeApiKey } from './api-key'
import type { Identity } from './identity'

// Whoever has just sent a good key is presumed to send a good key again, so that what is asked most often need not read
// it first: the statement that starts a run, resumes it or reads its status checks the key too. Nothing else may be
// written or answered for a caller who is only presumed.

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
  return { identity, presumed: { keyHash, role: identity.actor.role, sent: false, confirmed: false } }
}

/**
 * In SQL, whether a presumed caller's key is good and has the presumed role.
 * @param write the tag of the statement: `String.raw` for a text
 */
export function goodKey<V, R>(
  write: (strings: TemplateStringsArray, ...values: V[]) => R,
  { hash, tenantId, role, at }: Record<'hash' | 'tenantId' | 'role' | 'at', V>,
): R {
  return write`(
        select 1 from api_keys k
        where k.hash = ${hash} and k.tenant_id = ${tenantId} and k.role = ${role} and k.disabled_at is null
          and (k.grace_until is null or k.grace_until > ${at})
        limit 1)`
}

const given = (name: string) => sql`${sql.placeholder(name)}`

/** `goodKey` for a prepared statement that is given `keyHash`, `tenantId`, `role` and `at`. */
export const GIVEN_KEY = goodKey(sql, {
  hash: given('keyHash'),
  tenantId: given('tenantId'),
  role: given('role'),
  at: sql`${sql.placeholder('at')}::timestamptz`,
})

/**
 * For a verb that goes on without a statement that checked the key.
 * @throws CallerUnconfirmed
 */
export function requireConfirmed({ presumed }: ServiceContext): void {
  if (presumed?.confirmed === false) throw new CallerUnconfirmed()
}

/**
 * Checks a presumed caller's key in a statement of its own.
 * @throws CallerUnconfirmed
 */
export async function confirmCaller({ db, tenantId, presumed, now }: ServiceContext): Promise<void> {
  if (presumed?.confirmed !== false) return
  const { keyHash, role } = presumed
  if (!('$client' in db)) throw new CallerUnconfirmed()
  const [good] = await preparedKey(db).execute({ keyHash, tenantId, role, at: now().toISOString() })
  if (!good) throw new CallerUnconfirmed()
  presumed.confirmed = true
}

const preparedKey = perDb((db) =>
  db.select({ good: sql<number>`1` }).from(sql`${GIVEN_KEY} caller`).prepare('known_key'),
)
