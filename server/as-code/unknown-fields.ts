import { isJsonObject, type JsonValue } from '../definition/json'
import type { Definition } from '../definition/schema'
import { CommonConfig } from '../definition/step-config'
import { findStepType } from '../steps/registry'
import type { Problem } from '../workflows/check/problem'

const COMMON = Object.keys(CommonConfig.shape)
const RETRY = Object.keys(CommonConfig.shape.retry.unwrap().shape)
const FIELD = ['type', 'description', 'required', 'default', 'options']
const EDGE = ['from', 'on', 'to']
const MAX = 100

/**
 * Warnings about fields without a meaning: workflows store them, because callers may put their own data into steps and
 * edges, so a workspace may have some.
 */
export function unknownFields({ payload, steps, edges }: Definition): Problem[] {
  const found: Problem[] = []
  const look = (value: JsonValue | undefined, known: readonly string[], at: string, stepId?: string) => {
    for (const name of isJsonObject(value) ? Object.keys(value) : []) {
      if (known.includes(name)) continue
      const field = at === '' ? name : `${at}.${name}`
      const message = `${field} is unknown and has no effect: its name may be misspelt.`
      const where = stepId === undefined ? { field } : { stepId, field }
      found.push({ severity: 'warning', code: 'W_UNKNOWN_FIELD', message, ...where })
    }
  }
  const lookAtFields = (fields: JsonValue | undefined, at: string, stepId?: string) => {
    for (const [name, field] of isJsonObject(fields) ? Object.entries(fields) : [])
      look(field, FIELD, `${at}.${name}`, stepId)
  }
  lookAtFields(payload, 'payload')
  for (const step of steps) {
    const type = findStepType(step.type)
    if (!type) continue
    look(step, ['id', 'type', ...COMMON, ...Object.keys(type.form)], '', step.id)
    look(step.retry, RETRY, 'retry', step.id)
    for (const [name, { widget }] of Object.entries(type.form))
      if (widget === 'fields') lookAtFields(step[name], name, step.id)
  }
  for (const [index, edge] of edges.entries()) look(edge, EDGE, `edges[${index}]`)
  return found.slice(0, MAX)
}
