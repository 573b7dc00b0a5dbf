import 'server-only'
import { initTRPC } from '@trpc/server'
import { countRequest } from '../auth/limits'
import { findMembership, readSession, type SessionUser } from '../auth/session'
import { watchAccess } from '../auth/watch-access'
import { now } from '../clock'
import type { ServiceContext } from '../context'
import { database } from '../database'
import { isJsonObject } from '../definition/json'
import { AppError } from '../errors'
import { fromAddress } from '../http/address'
import { reserveStream, watchEnd } from '../http/open-streams'
import { log } from '../log'
import type { One } from '../versioned/noun'
import { toTrpcError, visibleError } from './errors'

/** The parts of a request: its headers, and the workspace in its URL. */
export interface TrpcContext {
  headers: Headers
  requestId: string
  /** The workspace's slug; null if the URL has none. */
  tenant: string | null
  /** The token of the start link for which the call was counted before its body was read. */
  countedLink?: string | null | undefined
}

/** `spare`: a stream that pages can do without, so that others get its place. */
interface Meta {
  spare?: boolean
}

const t = initTRPC
  .context<TrpcContext>()
  .meta<Meta>()
  .create({
    // A reconnecting client sends the last event it saw, so nothing is lost if a proxy or a function limit cuts the
    // stream.
    sse: {
      ping: { enabled: true, intervalMs: 15_000 },
      maxDurationMs: 280_000,
      client: { reconnectAfterInactivityMs: 45_000 },
    },
    errorFormatter: ({ shape, error, ctx }) => ({ ...shape, ...visibleError(shape, error, ctx?.requestId ?? '') }),
  })

export const router = t.router

/** The only place that converts errors of verbs into errors of the transport. */
const mapErrors = t.middleware(async ({ next }) => {
  const result = await next()
  if (result.ok) return result
  throw toTrpcError(result.error)
})

/** For people who are not signed in: setup, and accepting an invitation. */
export const publicProcedure = t.procedure.use(mapErrors)

const signedIn = t.middleware(async ({ ctx, next }) => {
  const user = await readSession(ctx.headers)
  if (!user) throw new AppError('UNAUTHORIZED')
  return next({ ctx: { ...ctx, user } })
})

/** For a signed-in person, independent of any workspace. */
export const userProcedure = publicProcedure.use(signedIn)

const inTenant = t.middleware(async ({ ctx, next, type, signal, meta }) => {
  const { user } = ctx as TrpcContext & { user: SessionUser }
  const service = await serviceContext(ctx, user)
  await countRequest(service, undefined, database().db, service.now())
  const call = (left = never) => next({ ctx: { ...ctx, user, service, left } })
  return type === 'subscription' ? asStream(service, meta?.spare ?? false, signal, call) : call(signal)
})

const never = new AbortController().signal

/**
 * Calls a subscription, which counts as one of the tenant's open streams. Once the person loses the rights it was
 * opened with, it ends like an outage: their page reconnects with their current rights.
 * @throws AppError TOO_MANY_STREAMS
 */
async function asStream<R extends { ok: boolean }>(
  service: ServiceContext,
  spare: boolean,
  signal: AbortSignal | undefined,
  call: (left: AbortSignal) => Promise<R>,
): Promise<R> {
  const release = reserveStream(service.tenantId, { spare })
  const lost = new AbortController()
  const unwatch = watchAccess(service, () => lost.abort(new AppError('UNAVAILABLE')))
  const leave = () => {
    release()
    unwatch()
  }
  signal?.addEventListener('abort', leave, { once: true })
  const result = await call(AbortSignal.any([lost.signal, ...(signal ? [signal] : [])])).catch((err: unknown) => {
    leave()
    throw err
  })
  if (!result.ok || !('data' in result) || signal?.aborted) leave()
  else result.data = watchEnd(result.data as AsyncIterable<unknown>, leave, lost.signal)
  return result
}

/** For a member of the workspace; `ctx.service` is the verbs' context. */
export const tenantProcedure = userProcedure.use(inTenant)

/** Reads the role on every request, so that removing a person or lowering their role takes effect immediately. */
async function serviceContext(ctx: TrpcContext, user: SessionUser): Promise<ServiceContext> {
  const { db } = database()
  const membership = ctx.tenant === null ? null : await findMembership(db, user.userId, ctx.tenant)
  if (!membership) throw new AppError('NOT_FOUND', { message: 'Workspace not found' })
  const { tenantId, role } = membership
  return {
    tenantId,
    actor: { kind: 'user', id: user.userId, name: user.name, sessionId: user.sessionId, role },
    trusted: null,
    db,
    now,
    requestId: ctx.requestId,
    address: fromAddress(ctx.headers),
    log: log().child({ requestId: ctx.requestId, tenantId }),
  }
}

/** A resource and the page of its versions to list; the same as REST's query string. */
export interface OnePage extends One {
  page: { limit?: string; offset?: string }
}

/**
 * Declares the input of a procedure and checks only its shape: an object in which the named fields are text, like the
 * parameters of a path. The verb parses the rest, for every transport alike.
 * @example tenantProcedure.input(inputWith<OneRun>('runId')).query(({ ctx, input }) => getRunOverview(ctx.service, input))
 */
export function inputWith<T>(...names: (keyof T & string)[]): (value: unknown) => T {
  return (value = {}) => {
    if (!isJsonObject(value)) throw refused('The input must be a JSON object.')
    for (const name of names) if (typeof value[name] !== 'string') throw refused('must be text', name)
    return value as T
  }
}

function refused(message: string, path?: string): AppError {
  return new AppError('INVALID_INPUT', { details: [{ ...(path === undefined ? {} : { path }), message }] })
}
