import type { JsonValue } from '@/server/definition/json'
import { ENDPOINTS } from '@/server/rest/endpoints'
import { type Answer, type Caller, type CallOptions, call } from './api'

/** Fields of a body that name the object of a call whose path has no parameter. */
const NAMING = ['runId', 'agentId']

export interface Route {
  method: string
  path: string
  /** An example of its body, which is valid but for the ids of objects. */
  body: JsonValue | undefined
}

const routes: Route[] = Object.values(ENDPOINTS).map(({ method, path, body }) => ({
  method,
  path: path.replaceAll(/\{(\w+)\}/g, ':$1'),
  body: Object.values(body?.examples ?? {})[0]?.value,
}))

/** Every route that names an object: what the isolation tests go through. */
export const swept = routes.filter(({ path, body }) => path.includes('/:') || NAMING.some((name) => has(body, name)))

function has(body: JsonValue | undefined, name: string): boolean {
  return typeof body === 'object' && body !== null && name in body
}

/** Calls a route with an id wherever it takes one, and a body that is otherwise valid. */
export function attempt(caller: Caller, { method, path, body }: Route, id: string, options: CallOptions = {}) {
  const url = path.replace(/:(version|n)\b/, '1').replace(/:\w+/g, encodeURIComponent(id))
  const takesBody = method === 'POST' || method === 'PUT'
  const named = JSON.stringify(body ?? {}, (name, value) => (NAMING.includes(name) ? id : value))
  return call(caller, method, url, takesBody ? JSON.parse(named) : undefined, options)
}

/** What an answer says, apart from the two things that differ between any two answers. */
export function withoutRequestId({ body }: Answer, id: string): string {
  return JSON.stringify({ ...body, requestId: '' }).replaceAll(id, '<id>')
}
