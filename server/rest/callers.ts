import { processWide } from '@/db/process-wide'
import type { Identity } from '../auth/authenticate'

/** Process-wide, because the code that knows the caller and the route may be two copies of this module. */
const callers = () => processWide('callers', () => new WeakMap<Request, Identity>())

/**
 * Marks a request of this process as one of a caller who is already known, such as a person signed in to the dashboard.
 * No content of a request can do this.
 */
export function callAs(identity: Identity, request: Request): Request {
  callers().set(request, identity)
  return request
}

export function knownCaller(request: Request): Identity | undefined {
  return callers().get(request)
}
