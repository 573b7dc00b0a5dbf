import { isJsonObject, type JsonObject, type JsonValue } from '@/server/definition/json'
import type { Definition } from '@/server/definition/schema'
import type { Problem } from '@/server/workflows/check/problem'
import { findStep } from './definition'
import type { Fix } from './fix'
import { changed, placeOf, valueAt } from './place'

/** What to do about a name that means nothing: write the one that was meant, or leave it out. */
interface Naming {
  label: string
  /** Of the object that has the name. */
  rename: (object: JsonValue) => JsonValue
}

/** Null if the object has both names: then the user decides which one counts. */
export function namingFix(name: string, suggestion: string | undefined, parent: JsonValue | undefined): Naming | null {
  const taken = (object: JsonValue | undefined) =>
    suggestion !== undefined && isJsonObject(object) && Object.hasOwn(object, suggestion)
  if (taken(parent)) return null
  return {
    label: suggestion === undefined ? `Remove ${name}` : `Rename ${name} to ${suggestion}`,
    rename: (object) =>
      isJsonObject(object) && !taken(object)
        ? Object.fromEntries(
            Object.entries(object).flatMap(([key, item]) =>
              key !== name ? [[key, item]] : suggestion === undefined ? [] : [[suggestion, item]],
            ),
          )
        : object,
  }
}

/** Corrects or removes a field that means nothing in a step, a START field or a connection. */
export function unknownFieldFix(definition: Definition, { stepId, field, suggestion }: Problem): Fix | null {
  const within = partOf(definition, stepId)
  const path = within && placeOf(within, field)
  const name = path?.at(-1)
  if (!within || !path || typeof name !== 'string' || valueAt(within, path) === undefined) return null
  const parent = path.slice(0, -1)
  const naming = namingFix(name, suggestion, valueAt(within, parent))
  if (naming === null) return null
  const { label, rename } = naming
  return {
    label,
    apply: (before) => {
      const part = partOf(before, stepId)
      return part ? withPart(before, stepId, changed(part, parent, rename)) : before
    },
  }
}

/** The step, or what has no step. */
function partOf(definition: Definition, stepId: string | undefined): JsonObject | null {
  if (stepId !== undefined) return findStep(definition, stepId) ?? null
  const { payload, edges } = definition
  return { payload, edges }
}

function withPart(before: Definition, stepId: string | undefined, part: JsonValue): Definition {
  if (stepId === undefined) return { ...before, ...(part as Pick<Definition, 'payload' | 'edges'>) }
  const at = before.steps.findIndex(({ id }) => id === stepId)
  return { ...before, steps: before.steps.map((step, index) => (index === at ? (part as typeof step) : step)) }
}
