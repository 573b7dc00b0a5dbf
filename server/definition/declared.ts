import { isJsonObject, type JsonObject, type JsonValue, own } from './json'
import type { Definition, Field, Fields, Step } from './schema'

/**
 * The fields that a workflow declares, in the order in which people meet them: those of START, then those of its forms.
 * If several have the same name, the first.
 */
export function declaredFields({ payload, steps }: Pick<Definition, 'payload' | 'steps'>): Fields {
  return firstOfEach([payload, ...steps.map(fieldsOfForm)])
}

/** The fields that people fill in at a step, those of all its actions together; empty unless it asks for any. */
export function fieldsOfForm(step: Step): Fields {
  return firstOfEach(formsOf(step).map(({ fields }) => fields))
}

/** The forms of a step: its own, or those of its actions. */
export function formsOf({ type, output, actions }: Step): { action?: string; fields: Fields }[] {
  if (type === 'collect-inputs') return [{ fields: fieldsIn(output) }]
  if (type !== 'request-user-action' || !Array.isArray(actions)) return []
  return actions.flatMap((action) =>
    isJsonObject(action) && isJsonObject(action.fields)
      ? [{ action: String(action.id), fields: fieldsIn(action.fields) }]
      : [],
  )
}

/** A draft may have anything there. */
function fieldsIn(value: JsonValue | undefined): Fields {
  if (!isJsonObject(value)) return {}
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, Field] => isJsonObject(entry[1])))
}

function firstOfEach(all: readonly Fields[]): Fields {
  const fields = new Map<string, Field>()
  for (const some of all) {
    for (const [name, field] of Object.entries(some)) if (!fields.has(name)) fields.set(name, field)
  }
  return Object.fromEntries(fields)
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
