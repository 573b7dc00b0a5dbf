import { and, eq, isNull, lt, or } from 'drizzle-orm'
import type { Db } from '@/db/index'
import { apiKeys } from '@/db/schema/keys'
import { type Actor, ROLES, type Role } from '../context'
import { AppError } from '../errors'
import type { JsonObject } from '../json'
import { log } from '../log'
import { hashApiKey, looksLikeApiKey, looksMistyped, sameHash } from './api-key'

export interface Identity {
  tenantId: string
  actor: Actor
  trusted: JsonObject | null
}

/**
 * Who sent the request. Reads headers only, so a refused caller's body is never read. Every refusal
 * looks the same to the caller; the reason goes to the log.
 * @throws AppError UNAUTHORIZED
 */
export async function authenticate(
  headers: Headers,
  db: Db,
  now: Date,
  refusal: string,
  requestId: string,
): Promise<Identity> {
  const refuse = (reason: string): never => {
    log().info({ requestId, reason }, 'request refused')
    throw new AppError('UNAUTHORIZED', { message: refusal })
  }
  const key = headers.get('x-api-key')
  if (key === null) return refuse('no credential')
  if (!looksLikeApiKey(key)) return refuse('malformed key')
  const hash = hashApiKey(key)
  const [row] = await db.select().from(apiKeys).where(eq(apiKeys.hash, hash)).limit(1)
  if (!row || !sameHash(row.hash, hash)) return refuse(looksMistyped(key) ? 'mistyped key' : 'unknown key')
  if (row.disabledAt) return refuse('disabled key')
  if (row.graceUntil && row.graceUntil <= now) return refuse('rotated key')
  const tenant = headers.get('x-tenant-id')
  if (tenant !== null && tenant !== row.tenantId) return refuse('wrong tenant')
  noteUse(db, row.tenantId, row.id, row.lastUsedAt, now)
  return { tenantId: row.tenantId, actor: { kind: 'apiKey', id: row.id, role: roleOf(row.role) }, trusted: null }
}

function roleOf(text: string): Role {
  return ROLES.find((role) => role === text) ?? 'viewer'
}

const MINUTE = 60_000

/** Written at most once a minute and not waited for: it must never slow a request or fail it. */
function noteUse(db: Db, tenantId: string, id: string, last: Date | null, now: Date): void {
  if (last && now.getTime() - last.getTime() < MINUTE) return
  const stale = or(isNull(apiKeys.lastUsedAt), lt(apiKeys.lastUsedAt, new Date(now.getTime() - MINUTE)))
  db.update(apiKeys)
    .set({ lastUsedAt: now })
    .where(and(eq(apiKeys.tenantId, tenantId), eq(apiKeys.id, id), stale))
    .catch((err: unknown) => log().warn({ err, keyId: id }, 'last use of a key not noted'))
}
