import { count, observe } from '../measures'
import { traced } from '../traces'

type Params = Record<string, string | string[] | undefined>
type Handle = (request: Request, context: { params: Promise<Params | undefined> }) => Promise<Response>

/** Counts the requests that a handler answers. */
export function counted(handler: Handle): Handle {
  return async (request, context) => {
    const began = performance.now()
    const { method } = request
    const route = routeOf(pathOf(request.url), (await context.params) ?? {})
    const response = await traceRequest(request, route, () => handler(request, context))
    countRequest(route, method, response.status)
    observe('millrace_http_request_duration_seconds', { route, method }, (performance.now() - began) / 1_000)
    return response
  }
}

/** Asked by machines, again and again. */
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

function pathOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3)
  const end = url.indexOf('?', start)
  return end < 0 ? url.slice(start) : url.slice(start, end)
}

/**
 * The route of a path, with its parameters as `[name]`. There are only as many as there are routes, because whatever a
 * caller chooses is a parameter.
 */
export function routeOf(path: string, params: Params): string {
  const segments = path.split('/').map(plain)
  for (const [name, value] of Object.entries(params).reverse()) {
    const at = typeof value === 'string' ? segments.lastIndexOf(plain(value)) : -1
    if (at < 0) return 'other'
    segments[at] = `[${name}]`
  }
  return segments.join('/')
}

function plain(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
