import type { Approval } from '../definition/approval'
import { isJsonObject, type JsonObject } from '../definition/json'

/** The argument in which a model says why it makes a call that may need a decision. */
export const REASON = 'approval_reason'

/** The schema of arguments as the model sees it, with the reason that it must give for a call that may need a decision. */
export function askingWhy(parameters: JsonObject, approval: Approval | undefined): JsonObject {
  const properties = isJsonObject(parameters.properties) ? parameters.properties : {}
  if (approval === undefined || Object.hasOwn(properties, REASON)) return parameters
  const required = Array.isArray(parameters.required) ? parameters.required : []
  const reason = { type: 'string', description: 'Why this call is needed, for the person who may have to approve it.' }
  return { ...parameters, properties: { ...properties, [REASON]: reason }, required: [...required, REASON] }
}
