import { isJsonObject, type JsonObject } from '@/server/definition/json'
import { OPERATIONS } from '@/server/rest/openapi-document'
import { appRouter } from '@/server/trpc/root'

/** What tRPC's types leave out of a procedure. */
const PROCEDURES = appRouter._def.procedures as unknown as Record<string, { _def: { inputs: unknown[] } } | undefined>

/** True if it declares no input, or one of numbers and booleans only: no hostile input can be made of those. */
export function takesNothing(name: string, seed: JsonObject): boolean {
  const endpoint = OPERATIONS.find(({ method, path }) => `${method} ${path}` === name)
  if (endpoint) return !endpoint.body && !endpoint.query && !endpoint.path.includes('{')
  if (PROCEDURES[name]?._def.inputs.length === 0) return true
  const isHarmless = (value: unknown): boolean =>
    isJsonObject(value as never)
      ? Object.values(value as JsonObject).every(isHarmless)
      : ['number', 'boolean'].includes(typeof value)
  return isHarmless(seed)
}

/** For operations without a valid input in other tables. */
export const SEEDS: Record<string, JsonObject> = {
  'auth.invitation': { token: 'no-such-token' },
  'auth.previewSlug': { name: 'Engines' },
  'auth.setup': {
    name: 'Ada',
    email: 'ada@example.com',
    password: 'a long password',
    workspace: 'Engines',
    token: 'none',
  },
  'auth.taskLink': { token: 'no-such-token' },
  'auth.startLink': { token: 'no-such-token' },
  'workflows.check': { definition: { name: 'New', steps: [] } },
  'reference.send': { method: 'POST', path: '/api/workflows', body: '{"name":"New"}', headers: {} },
}
