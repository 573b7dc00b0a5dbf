import type { JsonObject } from '../definition/json'
import type { LoggedLine } from '../definition/run'

/** What a tool gets: the caller's arguments, and the verified context the caller cannot change. */
export interface ToolCall {
  args: JsonObject
  dataContext: JsonObject
  context: JsonObject | null
  signal: AbortSignal
  idempotencyKey: string | null
  /** Gets each line that a script writes to its console, at once: the script may never end. */
  log?: ((line: LoggedLine) => void) | undefined
}
