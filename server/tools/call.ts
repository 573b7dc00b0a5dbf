import type { JsonObject } from '../definition/json'

/** What a kind of tool is given: the caller's words, and the verified context the caller cannot alter. */
export interface ToolCall {
  args: JsonObject
  dataContext: JsonObject
  context: JsonObject | null
  signal: AbortSignal
  idempotencyKey: string | null
}
