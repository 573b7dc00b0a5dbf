import type { JsonObject, JsonValue } from '@/server/definition/json'
import { ENDPOINTS } from '@/server/rest/endpoints'
import { type Answer, type Caller, type CallOptions, call } from './api'

/** Fields of a body that name the object of a call whose path has no parameter. */
const NAMING = ['runId', 'agentId']

export interface Route {
  method: string
  path: string
  /** An example body, valid except for the ids of objects. */
  body: JsonValue | undefined
}

const routes: Route[] = Object.values(ENDPOINTS).map(({ method, path, body }) => ({
  method,
  path: path.replaceAll(/\{(\w+)\}/g, ':$1'),
  body: Object.values(body?.examples ?? {})[0]?.value,
}))

/** Every route that names an object; the isolation tests call each. */
export const swept = routes.filter(({ path, body }) => path.includes('/:') || NAMING.some((name) => has(body, name)))

function has(body: JsonValue | undefined, name: string): boolean {
  return typeof body === 'object' && body !== null && name in body
}

/** Calls a route with an id wherever it takes one, and an otherwise valid body. */
export function attempt(caller: Caller, { method, path, body }: Route, id: string, options: CallOptions = {}) {
  const takesBody = method === 'POST' || method === 'PUT'
  return call(
    caller,
    method,
    pathTo(path, () => id),
    takesBody ? naming(body, () => id) : undefined,
    options,
  )
}

/** The path to an object, whose ids are found by the names of the parameters. */
export function pathTo(path: string, idOf: (parameter: string) => string): string {
  return path
    .replace(/[:{](version|n)\b\}?/, '1')
    .replace(/[:{](\w+)\}?/g, (_all, name: string) => encodeURIComponent(idOf(name)))
}

/** The body with these ids wherever it names an object. */
export function naming(body: JsonValue | undefined, idOf: (field: string) => string): JsonObject {
  return JSON.parse(JSON.stringify(body ?? {}, (name, value) => (NAMING.includes(name) ? idOf(name) : value)))
}

/** An answer without the two parts that differ between any two answers. */
export function withoutRequestId({ body }: Answer, id: string): string {
  return JSON.stringify({ ...body, requestId: '' }).replaceAll(id, '<id>')
}
