import { and, eq, isNull, lt, or, sql } from 'drizzle-orm'
import type { Db } from '@/db/index'
import { perDb } from '@/db/per-db'
import { apiKeys } from '@/db/schema/keys'
import { signingSecrets } from '@/db/schema/secrets'
import { coalesceReads } from '@/lib/coalesce-reads'
import { env } from '../env'
import { AppError } from '../errors'
import { log } from '../log'
import { roleOf } from '../roles'
import { hashApiKey, looksLikeApiKey, looksMistyped, sameHash } from './api-key'
import { cacheCaller, forgetCaller } from './cached-caller'
import type { Identity } from './identity'
import { TokenRefused, verifyToken } from './jwt'
import { reachOf } from './reach'

export type { Identity }

/** Why a request was refused, for the log. */
class Refused extends Error {
  override name = 'Refused'
}

/**
 * Identifies the sender of a request. Reads only headers, so the body of a refused request is never read. If an API key
 * is sent, only the key counts, even with a token beside it. All refusals look the same to the caller; the reason goes
 * to the log.
 * @throws AppError UNAUTHORIZED
 */
export async function authenticate(
  headers: Headers,
  db: Db,
  now: Date,
  refusal: string,
  requestId: string,
): Promise<Identity> {
  try {
    const key = headers.get('x-api-key')
    return key === null ? await byToken(headers, db, now) : await byKey(key, headers, db, now)
  } catch (err) {
    if (!(err instanceof Refused || err instanceof TokenRefused)) throw err
    const fields = { requestId, reason: err.message }
    if (err instanceof TokenRefused && err.alarming) log().error(fields, 'a stored signing secret is damaged')
    else log().info(fields, 'request refused')
    throw new AppError('UNAUTHORIZED', { message: refusal })
  }
}

/** Whether the request carries a credential; without one, a refusal cannot be a guess. */
export function hasCredential(headers: Headers): boolean {
  return headers.has('x-api-key') || headers.has('authorization')
}

async function byKey(key: string, headers: Headers, db: Db, now: Date): Promise<Identity> {
  if (!looksLikeApiKey(key)) throw new Refused('malformed key')
  const hash = hashApiKey(key)
  // Until it is verified.
  forgetCaller(db, hash)
  const row = await coalesceReads(keyReads(db), hash, () => readKey(db, hash))
  if (!row || !sameHash(row.hash, hash)) throw new Refused(looksMistyped(key) ? 'mistyped key' : 'unknown key')
  if (row.disabledAt) throw new Refused('disabled key')
  if (row.graceUntil && row.graceUntil <= now) throw new Refused('rotated key')
  requireTenant(headers, row.tenantId)
  noteUse(db, apiKeys, row, now)
  const identity: Identity = {
    tenantId: row.tenantId,
    actor: { kind: 'apiKey', id: row.id, role: roleOf(row.role), ...(row.only ? { only: row.only } : {}) },
    trusted: null,
  }
  cacheCaller(db, hash, identity)
  return identity
}

/** Callers with the same key often arrive concurrently. */
const keyReads = perDb(() => new Map<string, ReturnType<typeof readKey>>())

async function readKey(db: Db, hash: string) {
  const [row] = await preparedKey(db).execute({ hash })
  return row
}

/** Most requests begin with this read, so its text is built once. */
const preparedKey = perDb((db) =>
  db
    .select()
    .from(apiKeys)
    .where(eq(apiKeys.hash, sql.placeholder('hash')))
    .limit(1)
    .prepare('api_key'),
)

async function byToken(headers: Headers, db: Db, now: Date): Promise<Identity> {
  const header = headers.get('authorization')
  if (header === null) throw new Refused('no credential')
  const token = /^Bearer +(\S+)$/i.exec(header)?.[1]
  if (!token) throw new Refused('not a bearer token')
  const find = async (id: string) => {
    const [row] = await db.select().from(signingSecrets).where(eq(signingSecrets.id, id)).limit(1)
    return row
  }
  const { secret, sub, context, longLived, goodUntil } = await verifyToken(token, {
    audience: env().jwtAudience,
    now,
    find,
  })
  requireTenant(headers, secret.tenantId)
  noteUse(db, signingSecrets, secret, now, longLived ? { longLivedAt: now } : {})
  return {
    tenantId: secret.tenantId,
    actor: { kind: 'jwt', id: sub, secretId: secret.id, role: roleOf(secret.role) },
    trusted: context,
    reach: reachOf(secret),
    goodUntil,
  }
}

/** The tenant is the credential's own. `x-tenant-id` may be left out, but must not name another tenant. */
function requireTenant(headers: Headers, tenantId: string): void {
  const named = headers.get('x-tenant-id')
  if (named !== null && named !== tenantId) throw new Refused('wrong tenant')
}

const MINUTE = 60_000

/** Written at most once a minute and not awaited: it must never slow down or fail a request. */
function noteUse(
  db: Db,
  table: typeof apiKeys | typeof signingSecrets,
  row: { tenantId: string; id: string; lastUsedAt: Date | null },
  now: Date,
  also: { longLivedAt?: Date } = {},
): void {
  if (row.lastUsedAt && now.getTime() - row.lastUsedAt.getTime() < MINUTE) return
  const stale = or(isNull(table.lastUsedAt), lt(table.lastUsedAt, new Date(now.getTime() - MINUTE)))
  db.update(table)
    .set({ lastUsedAt: now, ...also })
    .where(and(eq(table.tenantId, row.tenantId), eq(table.id, row.id), stale))
    .catch((err: unknown) => log().warn({ err, credential: row.id }, 'could not record the last use of a credential'))
}
