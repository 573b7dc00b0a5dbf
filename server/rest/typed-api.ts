import { originOf } from '../http/origin'
import { JsonText } from '../http/respond'
import { typedApi } from '../typed-api/document'
import { answerOpenApi, etagOf, isKnown, openApiDocument } from './openapi-document'
import { type RouteHandler, route } from './route'

const answerTyped = route(async ({ ctx, query, request }) => {
  const text = JSON.stringify(await typedApi(ctx, openApiDocument(originOf(request.headers)), query))
  const headers = { etag: etagOf(text), 'cache-control': 'private, no-cache' }
  return { headers, body: new JsonText(text) }
})

/** The document of the API, which everybody may read; with `workflows`, that of the caller's workspace. */
export const getOpenApi: RouteHandler = async (request, context) => {
  if (!new URL(request.url).searchParams.has('workflows')) return answerOpenApi(request)
  const response = await answerTyped(request, context)
  const etag = response.headers.get('etag')
  if (etag === null || !isKnown(request, etag)) return response
  const headers = new Headers(response.headers)
  for (const name of ['content-type', 'content-length']) headers.delete(name)
  return new Response(null, { status: 304, headers })
}
