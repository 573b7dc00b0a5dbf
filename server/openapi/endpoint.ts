import { type Operation as Permission, POLICY } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { JsonObject } from '../definition/json'
import type { ByName } from '../http/by-name'
import type { MultipartInput } from '../http/multipart-input'
import type { Operation, Schema } from './types'

/** The names of a path's parameters: `runId` of `/api/workflow/status/{runId}`. */
type ParamOf<P extends string> = P extends `${string}{${infer Name}}${infer Rest}` ? Name | ParamOf<Rest> : never

/** A handler's response: a body alone means 200. Bytes and streams are sent unchanged, anything else as JSON. */
export interface RouteAnswer {
  status?: number
  headers?: Record<string, string>
  body: unknown
}

/** The contents of a request. The body is unknown here: the verb parses it, for every transport. */
export interface Call<P extends string, B> {
  params: Record<P, string>
  query: Record<string, string | undefined>
  body: B
  request: Request
}

/** The argument of a handler. */
export interface RouteCall<P extends string, B = JsonObject> extends Call<P, B> {
  ctx: ServiceContext
  /**
   * Fires when the caller leaves. With an `Idempotency-Key` the work continues, and its response is stored. Created on
   * first access, like that of a `SentRequest`.
   */
  readonly signal: AbortSignal
}

/** The argument of a public endpoint's handler. */
export interface PublicCall<P extends string> {
  request: Request
  requestId: string
  params: Record<P, string>
  /** @throws AppError INVALID_INPUT */
  query: () => ByName
}

/** How its requests are handled, where that differs from the default. */
interface Handling {
  /** The statement of its verb checks the key of a cached caller, before anything else is done. */
  checksKey?: true
  /** The limit it counts against, besides the one for all requests. */
  limit?: 'starts' | 'invokes'
  /** The body may be as large as `LARGE_BODY` allows. */
  large?: true
  /** The body may have more fields than it documents, without a warning: it is of another protocol, or was ignored once. */
  openBody?: true
  /** The handler only waits for work that continues without the caller. */
  onlyWaits?: true
  /** Our pages may download the file that the path's `id` names: for the person signed in, or with a task link. */
  forPages?: true
  /** The requests whose response is stored for an `Idempotency-Key`; all by default, if it lists that header. */
  keepsAnswer?: (request: Request) => boolean
}

/** The single source of an endpoint: its handler, the document, the reference page and the tests come from it. */
type Described<P extends string, F> = Omit<Operation, 'id' | 'role' | 'path' | 'body'> & {
  path: P
  body?: NonNullable<Operation['body']> & { form?: F }
}

/** A REST endpoint: one method of one path. */
export interface Endpoint extends Omit<Operation, 'id'>, Handling {
  /** The permission that its verb passes to `authorize`. */
  permission: Permission
  run(call: RouteCall<string, JsonObject | MultipartInput>): Promise<RouteAnswer>
}

/** An endpoint that needs no credential, or one of its own that its verb checks. */
export interface PublicEndpoint extends Omit<Operation, 'id'> {
  permission: null
  run(call: PublicCall<string>): Promise<RouteAnswer>
}

export type AnyEndpoint = Endpoint | PublicEndpoint

/** Its handler may get a form if it documents one. */
export function endpoint<const P extends string, F extends Schema | undefined = undefined>(
  given: Described<P, F> &
    Handling & {
      permission: Permission
      run(
        call: RouteCall<ParamOf<P>, F extends Schema ? JsonObject | MultipartInput : JsonObject>,
      ): Promise<RouteAnswer>
    },
): Endpoint {
  return { ...given, role: POLICY[given.permission] }
}

export function publicEndpoint<const P extends string>(
  given: Described<P, undefined> & { run(call: PublicCall<ParamOf<P>>): Promise<RouteAnswer> },
): PublicEndpoint {
  return { ...given, role: 'nobody', permission: null }
}
