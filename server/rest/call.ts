import { LARGE_BODY, readJsonBody } from '../http/body'
import { isMultipart, readMultipart } from './multipart'
import { readQuery } from './query'

export interface CallOptions {
  /** False if the body must not be read (GET). */
  readsBody?: boolean
  /** True if callers may send a form with a file instead of JSON. */
  acceptsForm?: boolean
  /** True if the body may be as large as `LARGE_BODY` says. */
  large?: boolean
}

/** What a request says. The body is unknown here: the verb parses it, whichever transport it came by. */
export interface Call<P extends string, B> {
  params: Record<P, string>
  query: Record<string, string | undefined>
  body: B
  request: Request
}

/** Next passes no parameters for a path that has none, although its types say it does. */
export interface NextContext {
  params: Promise<Record<string, string | string[] | undefined> | undefined>
  /** Of the route, below `app`. `methods` adds it. */
  folder?: string
}

/** Reads a request: after whoever sent it is known and may send it, because this may take long. */
export async function readCall<P extends string>(
  request: Request,
  context: NextContext,
  { readsBody = request.method !== 'GET' && request.method !== 'HEAD', acceptsForm, large }: CallOptions,
): Promise<Call<P, never>> {
  const readJson = (from: Request) => readJsonBody(from, large ? LARGE_BODY : undefined)
  const readBody = acceptsForm && isMultipart(request) ? readMultipart : readJson
  return {
    request,
    // The overloads of `route` decide which of the two a handler gets.
    body: (readsBody ? await readBody(request) : {}) as never,
    params: await paramsOf<P>(context),
    query: await readQuery(request, context.folder),
  }
}

/** The folder determines a path's parameters, which no type can see. */
export async function paramsOf<P extends string>({ params }: NextContext): Promise<Record<P, string>> {
  const given = Object.entries((await params) ?? {})
  return Object.fromEntries(
    given.map(([name, value]) => [name, Array.isArray(value) ? value.join('/') : (value ?? '')]),
  ) as Record<P, string>
}
