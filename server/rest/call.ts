import { LARGE_BODY, readJsonBody } from '../http/body'
import type { Call } from '../openapi/endpoint'
import { isMultipart, readMultipart } from './multipart'
import { readQuery } from './query'

export interface CallOptions {
  /** False if the body must not be read (GET). */
  readsBody?: boolean
  /** True if callers may send a form with a file instead of JSON. */
  acceptsForm?: boolean
  /** True if the body may be as large as `LARGE_BODY` allows. */
  large?: boolean | undefined
  /** The parameters it accepts; any if omitted. */
  parameters?: readonly string[]
}

/** Next passes no parameters for a path that has none, although its types promise them. */
export interface NextContext {
  params: Promise<Record<string, string | string[] | undefined> | undefined>
}

/** Reads a request, once its sender is authenticated and authorized, because this may take long. */
export async function readCall<P extends string>(
  request: Request,
  context: NextContext,
  { readsBody = request.method !== 'GET' && request.method !== 'HEAD', acceptsForm, large, parameters }: CallOptions,
): Promise<Call<P, never>> {
  const readJson = (from: Request) => readJsonBody(from, large ? LARGE_BODY : undefined)
  const readBody = acceptsForm && isMultipart(request) ? readMultipart : readJson
  return {
    request,
    // The overloads of `route` decide which of the two a handler gets.
    body: (readsBody ? await readBody(request) : {}) as never,
    params: await paramsOf<P>(context),
    query: readQuery(request, parameters),
  }
}

/** The folder determines a path's parameters, which no type can express. */
export async function paramsOf<P extends string>({ params }: NextContext): Promise<Record<P, string>> {
  const given = Object.entries((await params) ?? {})
  return Object.fromEntries(
    given.map(([name, value]) => [name, Array.isArray(value) ? value.join('/') : (value ?? '')]),
  ) as Record<P, string>
}
