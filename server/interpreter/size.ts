import {
  fieldsInStoredOrder,
  inStoredOrder,
  type JsonObject,
  type JsonValue,
  jsonSize,
  toStorableJson,
} from '../definition/json'
import { MAX_DATA_BYTES, MAX_OUTPUT_BYTES, readableSize } from '../definition/limits'
import { StepFailure } from '../errors'

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
export function withDelta({ data, own }: Grown, delta: JsonObject): Grown {
  return { data: addToData(data, delta), own: own === null ? null : addToData(own, delta) }
}

/** What a walk can refer to, and what it has written itself if it is a branch. */
export interface Grown {
  data: JsonObject
  own: JsonObject | null
}

/**
 * Run data plus what a step adds to it.
 * @throws StepFailure DATA_TOO_LARGE
 */
function addToData(data: JsonObject, delta: JsonObject): JsonObject {
  const grown = fieldsInStoredOrder({ ...data, ...delta })
  if (Object.keys(delta).length > 0 && jsonSize(grown) > MAX_DATA_BYTES) {
    const message = `With this output, the run data would be larger than ${readableSize(MAX_DATA_BYTES)}`
    throw new StepFailure('DATA_TOO_LARGE', message)
  }
  return grown
}
