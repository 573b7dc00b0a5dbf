import type { JsonObject } from './json'

/** What a tool is made of; `builtin` is everybody's and has no row. */
export type ToolKind = 'script' | 'http' | 'mcp' | 'builtin'

/** What a version of a tool says. */
export type ToolDefinition = {
  name: string
  description: string
  kind: ToolKind
  config: JsonObject
  /** JSON Schemas of the arguments and of the result; null lets anything pass. */
  inputSchema: JsonObject | null
  outputSchema: JsonObject | null
}
