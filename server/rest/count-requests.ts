import { count, observe } from '../measures'

type Handle<C> = (request: Request, context: C) => Promise<Response>

/**
 * Counts the requests that a handler answers.
 * @param route the folder of the route, never a path: callers choose paths, and each label is kept for good
 */
export function counted<C>(route: string, handler: Handle<C>): Handle<C> {
  return async (request, context) => {
    const began = performance.now()
    const response = await handler(request, context)
    const { method } = request
    countRequest(route, method, response.status)
    observe('millrace_http_request_duration_seconds', { route, method }, (performance.now() - began) / 1_000)
    return response
  }
}

export function countRequest(route: string, method: string, status: number): void {
  count('millrace_http_requests_total', { route, method, status: String(status) })
}
