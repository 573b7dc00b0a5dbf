import { processWide } from '@/db/process-wide'
import type { Identity } from '../auth/authenticate'

/** Process-wide, because the code that knows the caller and the route may be two copies of this module. */
const callers = () => processWide('callers', () => new WeakMap<Request, Identity>())

/**
 * Makes a request of this process one of a caller who is already known, as a person who is signed in to the dashboard is.
 * Nothing that a request contains can do this.
 */
export function callAs(identity: Identity, request: Request): Request {
  callers().set(request, identity)
  return request
}

export function knownCaller(request: Request): Identity | undefined {
  return callers().get(request)
}
