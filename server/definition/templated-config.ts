import { EXPRESSION_FIELDS } from './expression/fields'
import type { JsonObject } from './json'
import type { Step } from './schema'

/** The settings that a step's type defines, as written. */
function writtenConfig(step: Step): JsonObject {
  const {
    id: _id,
    type: _type,
    name: _name,
    description: _description,
    position: _position,
    retry: _retry,
    maxVisits: _maxVisits,
    ...config
  } = step
  return config
}

/** The settings of a step that may have references. In JavaScript, `${…}` is the script's own. */
export function referringConfig(step: Step): JsonObject {
  const { code: _code, ...config } = writtenConfig(step)
  return config
}

/** The value that a fork collects from each branch: filled in where the branch ends, and not where the step begins. */
export const RESULT_FIELD = 'result'

/** The settings of a step whose `${…}` are filled in when it begins. Excludes expressions and a fork's result. */
export function templatedConfig(step: Step): JsonObject {
  const config = writtenConfig(step)
  for (const name of [...EXPRESSION_FIELDS, RESULT_FIELD]) delete config[name]
  return config
}

/** The settings that are used as written, because they are expressions, or belong to every step. */
export function literalConfig(step: Step): JsonObject {
  const names: readonly string[] = ['name', 'retry', 'maxVisits', RESULT_FIELD, ...EXPRESSION_FIELDS]
  return Object.fromEntries(Object.entries(step).filter(([name]) => names.includes(name)))
}
