import { processWide } from '@/db/process-wide'
import { etagOf, isKnown } from '../http/etag'
import { originOf } from '../http/origin'
import { JsonText } from '../http/respond'
import { typedApi } from '../typed-api/document'
import { ReadTypedApi } from '../typed-api/schema'
import { typedApiSource } from '../typed-api/source'
import { answerOpenApi, openApiDocument } from './openapi-document'
import { methods, type RouteHandler, route } from './route'

/** A process stores the tags of at most this many documents. */
const MAX_TAGS = 1_000

/** The tags of documents by their sources, so that a caller who has the document costs one statement. */
const tags = () => processWide('typed-api-tags', () => new Map<string, string>())

const PARAMETERS = { parameters: Object.keys(ReadTypedApi.shape) }

const answerTyped = route(async ({ ctx, query, request }) => {
  const base = openApiDocument(originOf(request.headers))
  const source = await typedApiSource(ctx, base, query)
  const known = tags().get(source)
  if (known !== undefined && isKnown(request.headers.get('if-none-match'), known))
    return { headers: headersOf(known), body: new JsonText('') }
  const text = JSON.stringify(await typedApi(ctx, base, query))
  const etag = etagOf(text)
  cacheTag(source, etag)
  return { headers: headersOf(etag), body: new JsonText(text) }
}, PARAMETERS)

function headersOf(etag: string): Record<string, string> {
  return { etag, 'cache-control': 'private, no-cache' }
}

/** The oldest tags are dropped first. */
function cacheTag(source: string, etag: string): void {
  const cache = tags()
  cache.delete(source)
  cache.set(source, etag)
  if (cache.size <= MAX_TAGS) return
  const [oldest] = cache.keys()
  if (oldest !== undefined) cache.delete(oldest)
}

/** The document of the API, which everyone may read; with `workflows`, that of the caller's workspace. */
const getOpenApi: RouteHandler = async (request, context) => {
  if (!new URL(request.url).searchParams.has('workflows')) return answerOpenApi(request)
  const response = await answerTyped(request, context)
  const etag = response.headers.get('etag')
  if (etag === null || !isKnown(request.headers.get('if-none-match'), etag)) return response
  const headers = new Headers(response.headers)
  for (const name of ['content-type', 'content-length']) headers.delete(name)
  return new Response(null, { status: 304, headers })
}

export const OPENAPI = methods('/api/openapi.json', { GET: getOpenApi })
