import { checkFields } from '../../definition/fields'
import { schemaOfFields } from '../../definition/fields-schema'
import { isJsonObject, type JsonValue } from '../../definition/json'
import type { PauseAnswer, PauseSignal } from '../../definition/run'
import type { Values } from './values'

/**
 * A choice, with the values of its fields.
 * @param at.given what the caller sets: a text as the value of the choice, or an object of its fields and its remark
 */
export function decided(
  values: Values,
  { actions, remark }: Extract<PauseSignal, { type: 'request_user_action' }>,
  { stepId, actionId, given }: { stepId: string; actionId: string; given: JsonValue | undefined },
): PauseAnswer {
  const fields = actions.find(({ id }) => id === actionId)?.fields
  const { actionValue, remark: said, ...set } = isJsonObject(given) ? given : {}
  const made = fields ? values.of(schemaOfFields(fields), stepId, `${stepId} ${actionId}`) : {}
  const value = typeof given === 'string' ? given : actionValue
  return {
    actionId,
    actionValue: typeof value === 'string' ? value : actionId,
    ...(fields ? { data: checkFields(fields, { ...(isJsonObject(made) ? made : {}), ...set }).data } : {}),
    ...(remark ? { remark: typeof said === 'string' ? said : `${stepId} remark` } : {}),
  }
}
