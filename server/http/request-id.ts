import { randomUUID } from 'node:crypto'

const REQUEST_ID = /^[A-Za-z0-9-]{8,64}$/

/** The caller's own `x-request-id` when it is one, so that one id goes through several services; else a new one. */
export function requestIdOf(request: Request): string {
  const sent = request.headers.get('x-request-id')
  return sent && REQUEST_ID.test(sent) ? sent : randomUUID()
}
