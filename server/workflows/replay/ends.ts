import type { ServiceContext } from '../../context'
import { checkFields } from '../../definition/fields'
import { fieldsInStoredOrder, type JsonObject, own } from '../../definition/json'
import type { Definition } from '../../definition/schema'
import type { Ended as CaseEnd } from '../../definition/test-case'
import type { Position } from '../../interpreter/flow/index'
import { MAIN_BRANCH } from '../../run-store/names'
import type { Failure } from './source'
import type { Ended } from './walk'

/** Where a walk with a run's input begins; how it fails if the input does not fit. */
export function startOf(
  { tenantId }: Pick<ServiceContext, 'tenantId'>,
  definition: Definition,
  input: JsonObject,
  check: typeof checkFields = checkFields,
): { state: Position } | { failed: Failure } {
  const { data, details } = check(definition.payload, input)
  if (details.length > 0)
    return { failed: { code: 'INVALID_INPUT', message: details.map(({ message }) => message).join(', ') } }
  // A form's file is no declared field.
  const fileId = own(input, 'fileId')
  const state = {
    run: { failing: null, cancelRequestedAt: null },
    ref: { tenantId, runId: 'run_replayed', epoch: 1, segment: 1, branch: MAIN_BRANCH },
    definition,
    data: fieldsInStoredOrder(fileId === undefined ? data : { fileId, ...data }),
    refs: {},
    own: null,
  }
  return { state }
}

/** How a run would end whose walk has ended so. */
export function endOf({ state, arrival }: Ended): CaseEnd {
  if (state.run.failing) return { failed: state.run.failing }
  if (arrival && 'failed' in arrival) return { failed: arrival.failed }
  if (arrival && 'ends' in arrival) {
    return arrival.ends.status === 'failed' ? { failed: arrival.ends.error } : { data: arrival.ends.result }
  }
  return { data: state.data }
}
