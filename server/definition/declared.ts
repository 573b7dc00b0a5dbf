import { isJsonObject, type JsonObject, own } from './json'
import type { Definition, Field, Fields, Step } from './schema'

/**
 * The fields that a workflow declares, in the order in which people meet them: those of START, then those of its forms.
 * If several have the same name, the first.
 */
export function declaredFields({ payload, steps }: Pick<Definition, 'payload' | 'steps'>): Fields {
  const fields = new Map<string, Field>()
  for (const some of [payload, ...steps.map(fieldsOfForm)]) {
    for (const [name, field] of Object.entries(some)) if (!fields.has(name)) fields.set(name, field)
  }
  return Object.fromEntries(fields)
}

/** The fields that people fill in at a step; empty unless it is a form. */
export function fieldsOfForm({ type, output }: Step): Fields {
  if (type !== 'collect-inputs' || !isJsonObject(output)) return {}
  // A draft may have anything there.
  return Object.fromEntries(Object.entries(output).filter((entry): entry is [string, Field] => isJsonObject(entry[1])))
}

/** A field's name for people. */
export function labelOf(name: string, field: Field): string {
  const label = field.label ?? field.title
  return typeof label === 'string' && label.trim() !== '' ? label : name
}

/** The object with these names first, in this order, which Postgres does not preserve; all others follow unchanged. */
export function inOrder(object: JsonObject, names: readonly string[]): JsonObject {
  const order = new Set([...names.filter((name) => Object.hasOwn(object, name)), ...Object.keys(object)])
  return Object.fromEntries([...order].map((name) => [name, own(object, name) ?? null]))
}
