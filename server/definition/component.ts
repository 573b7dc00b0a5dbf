import './zod-words'
import { z } from 'zod'

/**
 * The names of schemas in the OpenAPI document, which generators of clients turn into types. An unnamed schema is
 * inlined. Not in zod's own registry, whose ids change every JSON Schema that zod writes.
 */
export const components = z.registry<{ id: string }>()

/** An object with a name in the OpenAPI document. Name any other schema with `.register(components, { id })`. */
export function component<S extends z.ZodRawShape>(id: string, shape: S) {
  return z.object(shape).register(components, { id })
}
