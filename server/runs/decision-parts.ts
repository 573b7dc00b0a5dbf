import type { JsonObject } from '../definition/json'
import type { DecisionParts } from '../definition/run'

/** What a person gave with an action, without what they did not give. */
export function decisionParts({
  data,
  remark,
}: {
  data?: JsonObject | null | undefined
  remark?: string | null | undefined
}): DecisionParts {
  return { ...(data ? { data } : {}), ...(typeof remark === 'string' ? { remark } : {}) }
}
