import { isJsonObject, type JsonObject, type JsonValue, jsonSize } from '../definition/json'

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
