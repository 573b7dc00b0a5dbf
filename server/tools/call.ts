import type { JsonObject } from '../definition/json'
import type { LoggedLine } from '../definition/run'

/** A tool's input: the caller's arguments, and the verified context, which the caller cannot change. */
export interface ToolCall {
  args: JsonObject
  dataContext: JsonObject
  context: JsonObject | null
  signal: AbortSignal
  idempotencyKey: string | null
  /** Receives each console line of a script immediately: the script may never end. */
  log?: ((line: LoggedLine) => void) | undefined
}
