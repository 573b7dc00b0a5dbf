import { and, eq } from 'drizzle-orm'
import type { Db } from '@/db/index'
import { corsOrigins } from '@/db/schema/cors'
import type { Identity } from '../auth/authenticate'
import { database } from '../database'

/** Omits the headers of API keys, which are not for browsers. */
const REQUEST_HEADERS =
  'authorization, content-type, idempotency-key, if-match, last-event-id, mcp-protocol-version, mcp-session-id, prefer, x-request-id'
const RESPONSE_HEADERS = [
  'etag, idempotent-replayed, link, location, mcp-session-id, ratelimit-limit, ratelimit-remaining, ratelimit-reset, retry-after',
  'x-api-version, x-request-id, x-total-count, x-workflow-version',
].join(', ')
const ORIGIN = /^https?:\/\/[^\s/]{1,253}$/

/**
 * Headers that let a page on one of the tenant's allowed origins read the response. Only for tokens: never for API
 * keys, and cookies are never accepted.
 */
export async function corsHeaders(headers: Headers, identity: Identity, db: Db): Promise<Record<string, string>> {
  if (identity.actor.kind !== 'jwt') return {}
  const origin = headers.get('origin')
  if (origin === null || !ORIGIN.test(origin)) return { vary: 'Origin' }
  const listed = and(eq(corsOrigins.tenantId, identity.tenantId), eq(corsOrigins.origin, origin))
  const [row] = await db.select().from(corsOrigins).where(listed).limit(1)
  return row ? readableFrom(origin) : { vary: 'Origin' }
}

function readableFrom(origin: string): Record<string, string> {
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': RESPONSE_HEADERS,
    vary: 'Origin',
  }
}

/**
 * The same for a refused request of an unknown caller, such as one with an expired token: otherwise a page could not
 * distinguish it from a lost network. As for a preflight, any tenant's origin suffices, because a refusal reveals
 * nothing about a tenant.
 */
export async function refusedHeaders(headers: Headers): Promise<Record<string, string>> {
  const origin = headers.get('origin')
  if (origin === null || headers.has('x-api-key')) return {}
  // The refusal stands, even if this cannot be read.
  const allowed = ORIGIN.test(origin) && (await isAnyTenants(database().db, origin).catch(() => false))
  return allowed ? readableFrom(origin) : { vary: 'Origin' }
}

async function isAnyTenants(db: Db, origin: string): Promise<boolean> {
  const [row] = await db.select().from(corsOrigins).where(eq(corsOrigins.origin, origin)).limit(1)
  return row !== undefined
}

/** A preflight carries no credential, so it succeeds if any tenant lists the origin. The actual request decides. */
export async function preflightHeaders(
  headers: Headers,
  methods: string,
  db: () => Db,
): Promise<Record<string, string>> {
  const vary = { vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers' }
  const origin = headers.get('origin')
  if (origin === null || !ORIGIN.test(origin) || !headers.has('access-control-request-method')) return vary
  if (!(await isAnyTenants(db(), origin))) return vary
  return {
    ...vary,
    'access-control-allow-origin': origin,
    'access-control-allow-methods': methods,
    'access-control-allow-headers': REQUEST_HEADERS,
    'access-control-max-age': '600',
  }
}
