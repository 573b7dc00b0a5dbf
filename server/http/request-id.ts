import { randomUUID } from 'node:crypto'

const REQUEST_ID = /^[A-Za-z0-9-]{8,64}$/

/**
 * The caller's `x-request-id` if it is a valid id, so that one id can follow a request through several services;
 * otherwise a new one.
 */
export function requestIdOf(request: Request): string {
  return requestIdFrom(request.headers.get('x-request-id'))
}

/** The same for the header alone. */
export function requestIdFrom(sent: string | null | undefined): string {
  return sent && REQUEST_ID.test(sent) ? sent : randomUUID()
}
