import { count, observe } from '../telemetry/measures'
import { traced } from '../telemetry/traces'

type Handle<C> = (request: Request, context: C) => Promise<Response>

/**
 * Counts the requests that a handler answers.
 * @param route the folder of the route, never a path: callers choose paths, and each label is stored for good
 */
export function counted<C>(route: string, handler: Handle<C>): Handle<C> {
  return async (request, context) => {
    const began = performance.now()
    const { method } = request
    const response = await traceRequest(request, route, () => handler(request, context))
    countRequest(route, method, response.status)
    observe('millrace_http_request_duration_seconds', { route, method }, (performance.now() - began) / 1_000)
    return response
  }
}

/** Machines call these again and again. */
const UNTRACED = new Set(['/api/health', '/api/metrics'])

/** Answers a request as a span, which continues the caller's trace. */
function traceRequest(request: Request, route: string, answer: () => Promise<Response>): Promise<Response> {
  if (UNTRACED.has(route)) return answer()
  return traced(
    () => ({
      name: `${request.method} ${route}`,
      kind: 'server',
      attributes: { 'http.request.method': request.method, 'http.route': route },
      parent: request.headers.get('traceparent'),
    }),
    async (note) => {
      const response = await answer()
      note({
        'http.response.status_code': response.status,
        ...(response.status >= 500 ? { 'error.type': String(response.status) } : {}),
      })
      return response
    },
  )
}

export function countRequest(route: string, method: string, status: number): void {
  count('millrace_http_requests_total', { route, method, status: String(status) })
}
