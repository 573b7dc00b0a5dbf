import 'server-only'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { requestIdOf } from '../../http/request-id'
import { respondError } from '../../http/respond'
import { log } from '../../log'
import { countRequest } from '../count-requests'
import type { Method, RouteHandler } from '../route'
import { type Match, matcher, type RouteModule } from './match'
import { readRequest } from './read'
import { writeResponse } from './write'

/** Answers a request if it knows the route. @returns false if another handler must answer it */
export type ApiListener = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean

/** Serves the same route files as Next, without its machinery, which costs more than most calls do. */
export function createApiListener(routes: Readonly<Record<string, RouteModule>>): ApiListener {
  const match = matcher(routes)
  return (incoming, outgoing) => {
    const found = match((incoming.url ?? '').split('?', 1)[0] ?? '')
    const handler = found?.module[(incoming.method === 'HEAD' ? 'GET' : incoming.method) as Method]
    if (!found || !handler) return false
    // A broken connection is no failure of ours. Without a listener it would end the process.
    incoming.on('error', () => {})
    outgoing.on('error', () => {})
    const refusal = handler.refuse?.(incoming.headers)
    if (refusal) {
      countRequest(found.folder, incoming.method ?? '', refusal.status)
      outgoing.writeHead(refusal.status, refusal.headers).end(refusal.text)
      return true
    }
    serve(handler, found.params, incoming, outgoing).catch((err: unknown) => {
      // A source may fail because its reader has left.
      const requestId = outgoing.getHeader('x-request-id')
      if (!outgoing.destroyed) log().error({ err, requestId }, 'a response was cut short')
      outgoing.destroy()
    })
    return true
  }
}

async function serve(
  handler: RouteHandler,
  params: Match['params'],
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const request = readRequest(incoming, outgoing)
  await writeResponse(await answer(handler, request, params), outgoing, request.method)
}

async function answer(handler: RouteHandler, request: Request, params: Match['params']): Promise<Response> {
  try {
    return await handler(request, { params: Promise.resolve(params) })
  } catch (err) {
    return respondError(err, requestIdOf(request))
  }
}
