import type { RouterOutput } from '@/app/_trpc/types'
import type { JsonObject } from '@/server/definition/json'

export type Tool = RouterOutput['tools']['get']
/** A workspace's own tool with its draft. */
export type OpenedTool = Extract<RouterOutput['tools']['open'], { draft: object }>

/** The editable content of a tool's version. The kind cannot change. */
export interface ToolForm {
  name: string
  description: string
  kind: 'script' | 'http' | 'mcp'
  config: JsonObject
  inputSchema: JsonObject | null
  outputSchema: JsonObject | null
}

export function formOf(tool: {
  name: string
  description: string
  kind: string
  config: JsonObject | null
  inputSchema: JsonObject | null
  outputSchema: JsonObject | null
}): ToolForm {
  const { name, description, config, inputSchema, outputSchema } = tool
  const kind = tool.kind === 'http' || tool.kind === 'mcp' ? tool.kind : 'script'
  return { name, description, kind, config: config ?? {}, inputSchema, outputSchema }
}

/** A configuration field as text. Other values are shown as JSON. */
export function configText(config: JsonObject, name: string): string {
  const value = config[name]
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The configuration with a field set or removed. */
export function withField(config: JsonObject, name: string, value: JsonObject[string] | undefined): JsonObject {
  const { [name]: _old, ...rest } = config
  return value === undefined ? rest : { ...rest, [name]: value }
}

/** A field that maps names to texts, such as headers. */
export function textsOf(config: JsonObject, name: string): Record<string, string> {
  const value = config[name]
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {}
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, typeof item === 'string' ? item : JSON.stringify(item)]),
  )
}
