import {
  fieldsInStoredOrder,
  inStoredOrder,
  type JsonObject,
  type JsonValue,
  jsonSize,
  toStorableJson,
} from '../definition/json'
import { MAX_DATA_BYTES, MAX_OUTPUT_BYTES, readableSize } from '../definition/limits'
import type { DataRef } from '../definition/run'
import { StepFailure } from '../errors'
import type { Visit, WalkRef } from '../run-store/names'
import { dataSize, refsWith, type Written } from '../run-store/run-data'

/**
 * A step's output as it is stored.
 * @throws TooDeep, StepFailure OUTPUT_TOO_LARGE
 */
export function storableOutput(output: unknown): JsonValue {
  const clean = toStorableJson(output)
  if (jsonSize(clean) > MAX_OUTPUT_BYTES)
    throw new StepFailure('OUTPUT_TOO_LARGE', `The output is larger than ${readableSize(MAX_OUTPUT_BYTES)}`)
  return inStoredOrder(clean)
}

/**
 * The data of a walk with what a step adds to it.
 * @throws StepFailure DATA_TOO_LARGE
 */
export function withDelta({ data, refs, own }: Grown, delta: JsonObject, { branch }: WalkRef, at: Visit): Grown {
  if (Object.keys(delta).length === 0) return { data, refs, own }
  const source = { branch, stepId: at.stepId, visit: at.visit }
  return { ...addToData({ data, refs }, delta, source), own: own && addToData(own, delta, source) }
}

/** What a walk can refer to, and what it has written itself if it is a branch. */
export interface Grown extends Written {
  own: Written | null
}

/**
 * Run data plus what a step adds to it.
 * @throws StepFailure DATA_TOO_LARGE
 */
function addToData({ data, refs }: Written, delta: JsonObject, source: Omit<DataRef, 'bytes'>): Written {
  const grown = { data: fieldsInStoredOrder({ ...data, ...delta }), refs: refsWith(refs, delta, source) }
  if (dataSize(grown) > MAX_DATA_BYTES) {
    const message = `With this output, the run data would be larger than ${readableSize(MAX_DATA_BYTES)}`
    throw new StepFailure('DATA_TOO_LARGE', message)
  }
  return grown
}
