import { Effort } from '../../definition/effort'
import { cutText, type JsonObject, pathText } from '../../definition/json'
import { type Definition, Edge, Fields, Step } from '../../definition/schema'
import { CommonConfig } from '../../definition/step-config'
import { shapeOf, unknownNames } from '../../definition/unknown-names'
import { findStepType } from '../../steps/registry'
import type { Problem } from './problem'
import { FOR_NAMES } from './scope'
import { unusableLimits } from './unusable-limits'

const MAX = 100
const MAX_PLACE = 300

/**
 * Warnings about fields without a meaning: workflows store them, because callers may put their own data into steps,
 * edges and fields, so a workspace may have some. Known fields are those of the schemas. Limits of declared fields that
 * cannot work are among them, because older definitions may have data of their own there.
 */
export function unknownFields({ payload, steps, edges }: Definition): Problem[] {
  const found: Problem[] = []
  const effort = new Effort(FOR_NAMES)
  const look = (
    known: Parameters<typeof unknownNames>[0],
    value: JsonObject,
    at: (string | number)[],
    stepId?: string,
  ) => {
    if (found.length >= MAX) return
    for (const { path, suggestion } of unknownNames(known, value, { effort })) {
      const field = cutText(pathText([...at, ...path]), MAX_PLACE)
      const where = stepId === undefined ? { field } : { stepId, field }
      found.push({ severity: 'warning', code: 'W_UNKNOWN_FIELD', ...unknownField(field, suggestion), ...where })
    }
  }
  look(Fields, payload, ['payload'])
  for (const step of steps) {
    const type = findStepType(step.type)
    if (type) look({ ...shapeOf(Step), ...shapeOf(type.config), ...CommonConfig.shape }, step, [], step.id)
  }
  for (const [index, edge] of edges.entries()) look(Edge, edge, ['edges', index])
  return [...found, ...unusableLimits({ payload, steps })].slice(0, MAX)
}

export interface UnknownField {
  message: string
  /** The name that was probably meant. */
  suggestion?: string
}

/** The words for a field that means nothing where it stands. */
export function unknownField(field: string, suggestion: string | null): UnknownField {
  const none = `${field} is unknown and has no effect`
  return suggestion === null
    ? { message: `${none}: its name may be misspelt.` }
    : { message: `${none}. Did you mean ${suggestion}?`, suggestion }
}
