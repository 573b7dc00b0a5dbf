import type { JsonObject } from '../definition/json'

/** What a tool gets: the caller's arguments, and the verified context the caller cannot change. */
export interface ToolCall {
  args: JsonObject
  dataContext: JsonObject
  context: JsonObject | null
  signal: AbortSignal
  idempotencyKey: string | null
}
