import 'server-only'
import type { AnyEndpoint } from '../openapi/endpoint'
import { type CountedHandler, type Method, methods, publicRoute, type RouteHandler, route } from './route'
import { unknownsOf } from './unknown-fields'

/** The exports of a route file. */
export type Served = Record<Method, CountedHandler>

/** The folder below `app` that Next serves an endpoint from: `/api/agents/[agentId]`. */
export function folderOf({ path }: { path: string }): string {
  return path.replaceAll('{', '[').replaceAll('}', ']')
}

/** The handlers of a path, from all of its endpoints. */
export function serve(...endpoints: readonly [AnyEndpoint, ...AnyEndpoint[]]): Served {
  const handlers = Object.fromEntries(endpoints.map((one) => [one.method, handlerOf(one)]))
  return methods(folderOf(endpoints[0]), handlers)
}

function handlerOf(endpoint: AnyEndpoint): RouteHandler {
  if (endpoint.permission === null) return publicRoute((call) => endpoint.run(call))
  const { checksKey, limit, large, onlyWaits, forPages, headers = [], keepsAnswer, body, query, tag } = endpoint
  return route((call) => endpoint.run(call), {
    ...{ checksKey, limit, large, onlyWaits, forPages },
    acceptsForm: body?.form !== undefined,
    surface: tag === 'Agents' || tag === 'Tools' ? 'invoke' : 'workflow',
    idempotent: headers.includes('Idempotency-Key') && (keepsAnswer ?? true),
    unknowns: unknownsOf(endpoint),
    parameters: Object.keys(query?.shape ?? {}),
  })
}
