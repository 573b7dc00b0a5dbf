import { isJsonObject, type JsonValue } from '../../definition/json'
import { nameIn } from '../../definition/people'
import type { Definition } from '../../definition/schema'
import { findStepType } from '../../steps/registry'

/** A person or a group that a step is assigned to. */
export interface Named {
  stepId: string
  field: string
  name: string
}

/**
 * The people or groups that steps are assigned to, or handed to, without expressions, each once per field.
 * @param read gives a name the form in which names are compared
 */
export function assignedIn({ steps }: Definition, wanted: 'user' | 'group', read: (name: string) => string): Named[] {
  return steps.flatMap((step) => {
    if (findStepType(step.type)?.mode !== 'pause') return []
    const { id: stepId, assignees, reminders } = step
    const handTo = isJsonObject(reminders) ? reminders.handTo : undefined
    const named = (field: string, list: JsonValue | undefined) =>
      [...new Set(namesIn(list, wanted).map(read))].map((name) => ({ stepId, field, name }))
    return [...named('assignees', assignees), ...named('reminders.handTo', handTo)]
  })
}

function namesIn(assignees: JsonValue | undefined, wanted: 'user' | 'group'): string[] {
  return Array.isArray(assignees) ? assignees.flatMap((one) => nameIn(one, wanted) ?? []) : []
}
