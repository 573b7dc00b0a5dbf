import { asSentence, named, underField } from '@/app/_ui/sentence'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import type { Problem } from '@/server/workflows/check/problem'
import { entryOf, findStep } from './definition'

const KINDS: Record<string, string> = {
  number: 'a number',
  integer: 'a whole number',
  string: 'text',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
}

/** The form's label for a problem's field, with the path inside it; '' without a field. */
export function fieldLabel(
  definition: Definition,
  catalog: Catalog | undefined,
  { stepId, field = '' }: Problem,
): string {
  const step = stepId === undefined ? undefined : findStep(definition, stepId)
  const root = /^[^.[]*/.exec(field)?.[0] ?? ''
  if (!step || !catalog || root === '') return field
  const form = [...(entryOf(catalog, step.type)?.form ?? []), ...catalog.common.form]
  const label = form.find(({ name }) => name === root)?.label
  if (label === undefined) return field
  const inside = field.slice(root.length).replace(/^\./, '')
  return inside === '' ? label : `${label} · ${inside}`
}

/** The text of a problem on screens, which names steps where its message has their ids. */
export function textOf({ said, message }: Problem): string {
  return said ?? message
}

/** A message as a sentence: the JSON checks name types as JSON Schema does, and the API's messages must not change. */
export function inWords(message: string): string {
  return asSentence(withTypes(message))
}

/** A problem's message behind the name of its field, which some messages begin with. */
export function inWordsBehind(problem: Problem): string {
  const { field = '' } = problem
  const message = textOf(problem)
  return inWords(field !== '' && message.startsWith(`${field} `) ? message.slice(field.length + 1) : message)
}

/** A message about a value inside a field, behind its path. */
export function inWordsAt(path: string, message: string): string {
  return named(path, withTypes(message))
}

function withTypes(message: string): string {
  return message.replace(
    /\bmust be (number|integer|string|boolean|object|array)(?=[.,;]|$)/g,
    (_, kind: string) => `must be ${KINDS[kind]}`,
  )
}

/** A message under its own field. */
export function problemUnderField(message: string): string {
  if (message === NEITHER_OR_BOTH) return 'Set this or “Until”, but not both'
  return underField(withTypes(message))
}

/** The server's message about a delay's two fields. */
export const NEITHER_OR_BOTH = 'or until must be set, but not both'
