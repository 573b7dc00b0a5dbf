import { z } from 'zod'

/**
 * The names of schemas in the OpenAPI document, of which generators of clients make types. A schema without a name is
 * written where it is used. Not in zod's own registry, whose ids change every JSON Schema that zod writes.
 */
export const components = z.registry<{ id: string }>()

/** An object with a name in the OpenAPI document. Any other schema gets one with `.register(components, { id })`. */
export function component<S extends z.ZodRawShape>(id: string, shape: S) {
  return z.object(shape).register(components, { id })
}
