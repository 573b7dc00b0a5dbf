import type { JsonObject, JsonValue } from '../definition/json'

/** One version of a tool, ready to call. */
export interface LoadedTool {
  id: string
  name: string
  description: string
  version: number
  kind: string
  config: JsonValue
  inputSchema: JsonObject | null
  outputSchema: JsonObject | null
}
