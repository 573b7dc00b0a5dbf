import type { JsonObject } from './json'
import type { Definition } from './schema'
import {
  fillText,
  findReferences,
  lookupIn,
  shownName,
  TemplateSyntaxError,
  TemplateTooLarge,
  UnresolvedReference,
} from './template'

/** Longer keys are cut: they are for people to recognise. */
const MAX_KEY = 200

/**
 * The text by which people recognise a run: the workflow's `businessKey` with the values of the run's input. Null if
 * the workflow has none, or if a field it uses has no value: no run fails to start for want of a name.
 */
export function businessKeyOf({ businessKey }: Pick<Definition, 'businessKey'>, input: JsonObject): string | null {
  if (!businessKey) return null
  try {
    const text = fillText(businessKey, lookupIn(input)).replace(/\s+/g, ' ').trim()
    return text === '' ? null : Array.from(text).slice(0, MAX_KEY).join('')
  } catch (err) {
    const noName = [UnresolvedReference, TemplateSyntaxError, TemplateTooLarge].some((kind) => err instanceof kind)
    if (noName) return null
    throw err
  }
}

/** Why the key would stay empty: it is not a template, or START has no such field. */
export function keyProblems({ businessKey, payload }: Pick<Definition, 'businessKey' | 'payload'>): string[] {
  const { references, problems } = findReferences(businessKey ?? '')
  const unknown = references.filter(({ reference }) => !Object.hasOwn(payload, reference.root))
  return [
    ...problems.map(({ error }) => error.message),
    ...unknown.map(
      ({ reference }) =>
        `The business key uses \${${reference.source}}, but START has no field ${shownName(reference.root)}.`,
    ),
  ]
}
