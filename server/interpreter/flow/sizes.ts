import {
  fieldsInStoredOrder,
  inStoredOrder,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonSize,
  toStorableJson,
} from '../../definition/json'
import { MAX_DATA_BYTES, MAX_OUTPUT_BYTES, readableSize } from '../../definition/limits'
import type { DataRef } from '../../definition/run'
import { StepFailure } from '../../errors'
import type { Visit, WalkRef } from '../../run-store/names'
import { dataSize, refsWith, type Written } from '../../run-store/run-data'
import type { WalkData } from '../../run-store/walk-data'

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
export function withDelta({ data, refs, own }: WalkData, delta: JsonObject, { branch }: WalkRef, at: Visit): WalkData {
  if (Object.keys(delta).length === 0) return { data, refs, own }
  const source = { branch, stepId: at.stepId, visit: at.visit }
  return { ...addToData({ data, refs }, delta, source), own: own && addToData(own, delta, source) }
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

/** An object is merged by field; any other value is stored under `saveAs`, or under the step's id. */
export function deltaOf(output: JsonValue, saveAs: string | undefined, stepId: string): JsonObject {
  if (saveAs) return { [saveAs]: output }
  return isJsonObject(output) ? output : { [stepId]: output }
}

/** A step's output as history shows it: always an object. */
export function objectOf(output: JsonValue, saveAs: string | undefined, stepId: string): JsonObject {
  return isJsonObject(output) ? output : { [saveAs ?? stepId]: output }
}

/** A step's output as stored in its record. */
export function outputColumns(outputData: JsonObject): { outputData: JsonObject; outputBytes: number } {
  return { outputData, outputBytes: jsonSize(outputData) }
}

/** A failure as its record shows it. */
export function failed({ code, message }: { code: string; message: string }): { error: string; errorCode: string } {
  return { error: message, errorCode: code }
}
