import { findCachedCaller } from '../auth/cached-caller'
import type { Identity } from '../auth/identity'
import { authenticateOrCount, countRequest } from '../auth/limits'
import { now } from '../clock'
import type { CachedCaller, ServiceContext } from '../context'
import { database } from '../database'
import { fromAddress } from '../http/address'
import { log } from '../log'
import { type NextContext, paramsOf } from './call'
import { knownCaller } from './callers'
import { corsHeaders } from './cors'
import type { Exchange } from './exchange'
import { isMultipart } from './multipart'
import { pageCaller } from './page-caller'
import { requireRoomFor } from './refused-starts'

export interface CallerOptions {
  /** Which of two documented messages a 401 has. */
  surface?: 'workflow' | 'invoke'
  /** True if the statement of its verb checks the key of a cached caller, before anything else is done. */
  checksKey?: boolean | undefined
  /** The limit it counts against, besides the one for all requests. */
  limit?: 'starts' | 'invokes' | undefined
  /** True if our pages may download the file that the path's `id` names. */
  forPages?: boolean | undefined
}

const UNAUTHORIZED = { workflow: 'Unauthorized', invoke: 'Invalid or disabled API key' } as const

/** The sender of the request: known in this process, cached by key, or read. */
export async function identify(
  exchange: Exchange,
  { surface = 'workflow', checksKey, forPages }: CallerOptions,
  context: NextContext,
): Promise<Identity> {
  const { request, requestId } = exchange
  const { headers } = request
  const { db } = database()
  const known = knownCaller(request)
  if (known) return known
  const visitor = forPages ? await pageCaller(request, requestId, (await paramsOf<'id'>(context)).id) : null
  if (visitor) return visitor
  const read = () => authenticateOrCount(headers, db, now(), UNAUTHORIZED[surface], requestId)
  const cached = checksKey && mayBeCached(request) ? findCachedCaller(headers, db) : null
  if (!cached) return read()
  let reading: Promise<Identity> | undefined
  exchange.unverified = { cachedCaller: cached.caller, verify: () => (reading ??= read()) }
  return cached.identity
}

/**
 * Browsers get headers that depend on their key, an idempotency key is written before anything else, and a file is
 * stored before the run is.
 */
function mayBeCached(request: Request): boolean {
  const { headers } = request
  return !headers.has('origin') && !headers.has('idempotency-key') && !isMultipart(request)
}

/** The checks before the body is read. */
export async function admit({ request, headers }: Exchange, caller: Identity, { limit }: CallerOptions): Promise<void> {
  const { db } = database()
  Object.assign(headers, await corsHeaders(request.headers, caller, db))
  if (limit === 'starts') requireRoomFor(caller.tenantId, request.headers)
  Object.assign(headers, await countRequest(caller, limit, db, now()))
}

/** The context for a verb of this caller. */
export function contextOf(
  { request, requestId }: Exchange,
  identity: Identity,
  cachedCaller?: CachedCaller,
): ServiceContext {
  return {
    ...identity,
    db: database().db,
    now,
    requestId,
    address: fromAddress(request.headers),
    log: log().child({ requestId, tenantId: identity.tenantId }),
    ...(cachedCaller ? { cachedCaller } : {}),
  }
}
