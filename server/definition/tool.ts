import type { JsonObject } from './json'

/** How a tool is implemented. A `builtin` belongs to all tenants and has no row. */
export type ToolKind = 'script' | 'http' | 'mcp' | 'builtin'

/** The contents of a version of a tool. */
export type ToolDefinition = {
  name: string
  description: string
  kind: ToolKind
  config: JsonObject
  /** JSON Schemas of the arguments and the result; null allows anything. */
  inputSchema: JsonObject | null
  outputSchema: JsonObject | null
}
