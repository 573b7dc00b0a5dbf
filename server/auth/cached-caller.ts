import { sql } from 'drizzle-orm'
import type { Db } from '@/db/index'
import { perDb } from '@/db/per-db'
import type { CachedCaller, ServiceContext } from '../context'
import { CallerNotVerified } from '../errors'
import { hashApiKey, looksLikeApiKey } from './api-key'
import type { Identity } from './identity'

// Caches the caller of a key that was just read, so that the most frequent requests need not read it first: the
// statement that starts a run, resumes it or reads its status also checks the key. Nothing else may be written or
// answered for a cached caller.

/** After this time a key is read again, which also notes its use. */
const KNOWN_MS = 30_000
const MAX_KNOWN = 10_000

interface Known {
  identity: Identity
  until: number
}

const known = perDb(() => new Map<string, Known>())

/** Caches a key that was read and is valid. */
export function cacheCaller(db: Db, keyHash: string, identity: Identity): void {
  const all = known(db)
  all.delete(keyHash)
  all.set(keyHash, { identity, until: performance.now() + KNOWN_MS })
  const [oldest] = all.keys()
  if (all.size > MAX_KNOWN && oldest !== undefined) all.delete(oldest)
}

/** Forgets a key until it is read again. */
export function forgetCaller(db: Db, keyHash: string): void {
  known(db).delete(keyHash)
}

/** The caller of a request by its key alone, if this process has just read that key. */
export function findCachedCaller(headers: Headers, db: Db): { identity: Identity; caller: CachedCaller } | null {
  const key = headers.get('x-api-key')
  if (key === null || !looksLikeApiKey(key)) return null
  const keyHash = hashApiKey(key)
  const found = known(db).get(keyHash)
  if (!found || found.until < performance.now()) return null
  const { identity } = found
  const named = headers.get('x-tenant-id')
  if (named !== null && named !== identity.tenantId) return null
  return { identity, caller: { keyHash, role: identity.actor.role, sent: false, verified: false } }
}

/**
 * In SQL, whether a cached caller's key is valid and has the same role as before.
 * @param write the tag of the statement: `String.raw` for a text
 */
export function keyIsValid<V, R>(
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

/** `keyIsValid` for a prepared statement with the parameters `keyHash`, `tenantId`, `role` and `at`. */
export const GIVEN_KEY = keyIsValid(sql, {
  hash: given('keyHash'),
  tenantId: given('tenantId'),
  role: given('role'),
  at: sql`${sql.placeholder('at')}::timestamptz`,
})

/**
 * For a verb that continues without a statement that checked the key.
 * @throws CallerNotVerified
 */
export function requireVerifiedCaller({ cachedCaller }: ServiceContext): void {
  if (cachedCaller?.verified === false) throw new CallerNotVerified()
}

/**
 * Checks a cached caller's key in a statement of its own.
 * @throws CallerNotVerified
 */
export async function verifyCaller({ db, tenantId, cachedCaller, now }: ServiceContext): Promise<void> {
  if (cachedCaller?.verified !== false) return
  const { keyHash, role } = cachedCaller
  if (!('$client' in db)) throw new CallerNotVerified()
  const [good] = await preparedKey(db).execute({ keyHash, tenantId, role, at: now().toISOString() })
  if (!good) throw new CallerNotVerified()
  cachedCaller.verified = true
}

const preparedKey = perDb((db) =>
  db.select({ good: sql<number>`1` }).from(sql`${GIVEN_KEY} caller`).prepare('known_key'),
)
