import { isJsonObject, type JsonValue } from './json'
import type { Definition, Step } from './schema'

/**
 * The language of versions saved from now on. Versions without one were saved before edges had `on`, those with 1
 * before steps for people had assignees, those with 2 before `for-each` could run a workflow, those with 3 before
 * actions had fields, those with 4 before tasks had reminders.
 */
export const LANGUAGE = 5

/** Fields that had no meaning before a language; with `of`, those of the items of that list. */
interface NewFields {
  since: number
  fields: readonly string[]
  of?: string
}

const NEW_FIELDS: Record<string, readonly NewFields[]> = {
  'request-user-action': [
    { since: 2, fields: ['assignees', 'needs', 'noSelfApproval', 'dueIn'] },
    { since: 4, fields: ['remark'] },
    { since: 4, fields: ['fields'], of: 'actions' },
    { since: 5, fields: ['reminders'] },
  ],
  'collect-inputs': [
    { since: 2, fields: ['assignees', 'needs', 'noSelfApproval', 'dueIn'] },
    { since: 5, fields: ['reminders'] },
  ],
  'for-each': [{ since: 3, fields: ['workflowId', 'version', 'input'] }],
  'run-workflow': [{ since: 3, fields: ['version'] }],
}

/**
 * A definition as its language reads it. In old versions, fields without a meaning at the time are ignored: steps had
 * one exit, and there were no loops.
 */
export function inLanguage(definition: Definition, language: number | null): Definition {
  if (language !== null && language >= LANGUAGE) return definition
  const steps = definition.steps.map((step) => asOf(step, language ?? 0))
  if (language !== null) return { ...definition, steps }
  return {
    ...definition,
    steps: steps.map(
      ({ maxVisits: _maxVisits, expiresIn: _expiresIn, ...step }) => step as (typeof definition.steps)[number],
    ),
    edges: definition.edges
      .filter((edge) => edge.type !== 'error' && typeof edge.case !== 'string' && typeof edge.condition !== 'string')
      .map(({ on: _on, ...edge }) => edge as (typeof definition.edges)[number]),
  }
}

function asOf(step: Step, language: number): Step {
  let read = step
  const added = Object.hasOwn(NEW_FIELDS, step.type) ? (NEW_FIELDS[step.type] ?? []) : []
  for (const { since, fields, of } of added) {
    if (language >= since) continue
    const list = of === undefined ? undefined : read[of]
    if (of === undefined) read = without(read, fields)
    else if (Array.isArray(list)) read = { ...read, [of]: list.map((item) => without(item, fields)) }
  }
  return read
}

function without<T extends JsonValue>(value: T, fields: readonly string[]): T {
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([name]) => !fields.includes(name))) as T
}
