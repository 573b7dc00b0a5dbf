import { formsOf } from '../../definition/declared'
import { boundsOf, formatOf, isNumeric, limitProblem, TEXT_FORMATS } from '../../definition/field-limits'
import { isJsonObject, type JsonValue, pathText } from '../../definition/json'
import type { Definition, Field, Fields, Step } from '../../definition/schema'
import type { Problem } from './problem'

/** Warnings about limits of START fields and of fields in forms that have no effect or contradict each other. */
export function unusableLimits({ payload, steps }: Pick<Definition, 'payload' | 'steps'>): Problem[] {
  return [
    ...problemsIn(payload, ['payload']),
    ...steps.flatMap((step) =>
      formsOf(step).flatMap(({ action, fields }) =>
        problemsIn(fields, placeOf(step, action)).map((problem) => ({ ...problem, stepId: step.id })),
      ),
    ),
  ]
}

function placeOf({ actions }: Step, action: string | undefined): (string | number)[] {
  if (action === undefined || !Array.isArray(actions)) return ['output']
  return ['actions', actions.findIndex((one) => isJsonObject(one) && String(one.id) === action), 'fields']
}

function problemsIn(fields: Fields, at: (string | number)[]): Problem[] {
  return Object.entries(fields).flatMap(([name, declared]) =>
    limitsOf(declared).map(([part, words]) => {
      const field = pathText([...at, name, part])
      return { severity: 'warning' as const, code: 'W_UNKNOWN_FIELD' as const, message: `${field} ${words}`, field }
    }),
  )
}

/** The parts of a field that cannot work, and why. */
function limitsOf(field: Field): [part: string, words: string][] {
  const found: [part: string, words: string][] = []
  const bounds = boundsOf(field)
  if (isGiven(field.format) && formatOf(field) === null) found.push(['format', formatWords(field)])
  for (const part of ['minimum', 'maximum'] as const)
    if (isGiven(field[part]) && bounds[part] === undefined) found.push([part, boundWords(field)])
  const { minimum = -Infinity, maximum = Infinity } = bounds
  if (minimum > maximum) found.push(['maximum', 'is less than the minimum, so no number is accepted.'])
  const preset = field.default as JsonValue | undefined
  // In a form, a default may come from run data.
  const isFixed = isGiven(preset) && !(typeof preset === 'string' && preset.includes('${'))
  const problem = isFixed ? limitProblem(field, preset) : null
  if (problem !== null) found.push(['default', `${problem}.`])
  return found
}

function isGiven<T>(value: T | undefined): value is T {
  return value !== undefined && value !== null
}

function formatWords({ type }: Field): string {
  return type === 'string'
    ? `is unknown and has no effect. Known ones are ${TEXT_FORMATS.join(', ')}.`
    : 'has no effect, because only texts have one.'
}

function boundWords(field: Field): string {
  return isNumeric(field) ? 'is not a number and has no effect.' : 'has no effect, because only numbers have one.'
}
