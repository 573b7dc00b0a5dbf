import type { tools, toolVersions } from '@/db/schema/tools'
import type { JsonObject } from '../definition/json'
import type { VersionedRow } from '../versioned/columns'
import { presentItem, presentState, presentVersionItem } from '../versioned/present'
import { BUILTIN_VERSION, type BuiltinTool } from './builtin'
import type { ToolDefinition, ToolKind } from './schema'

export type ToolRow = typeof tools.$inferSelect
export type ToolVersionRow = typeof toolVersions.$inferSelect

/** An entry of the list. */
export function presentToolItem(row: VersionedRow, kind: ToolKind) {
  const { id, name, description, ...rest } = presentItem(row)
  return { id, name, description, kind, ...rest }
}

/** The definition shown to callers; a built-in tool has no configuration. */
type ShownDefinition = Omit<ToolDefinition, 'config'> & { config: JsonObject | null }

/** The full tool, as every call that returns a tool shows it. */
export function presentTool(row: VersionedRow, tool: ShownDefinition) {
  return {
    ...presentToolItem(row, tool.kind),
    config: tool.config,
    inputSchema: tool.inputSchema,
    outputSchema: tool.outputSchema,
    ...presentState(row),
  }
}
export type PresentedTool = ReturnType<typeof presentTool>

/** An entry of the version list. */
export function presentToolVersionItem(
  version: Pick<ToolVersionRow, 'version' | 'name' | 'kind' | 'createdAt' | 'createdBy' | 'publishedAt'>,
  row: VersionedRow,
) {
  const { id, version: number, name, ...rest } = presentVersionItem(version, row)
  return { id, version: number, name, kind: version.kind, ...rest }
}

/** A version with its whole definition. */
export function presentToolVersion(version: ToolVersionRow, row: VersionedRow) {
  const { description, config, inputSchema, outputSchema } = definitionOf(version)
  return { ...presentToolVersionItem(version, row), description, config, inputSchema, outputSchema }
}

export function definitionOf(version: ToolVersionRow): ToolDefinition {
  return {
    name: version.name,
    description: version.description,
    kind: version.kind,
    config: version.config,
    inputSchema: version.inputSchema,
    outputSchema: version.outputSchema,
  }
}

/** Built-in tools have no creation time. */
const ALWAYS = new Date(0)

/** A built-in tool in the same shape; it has no configuration to show. */
export function presentBuiltin({ id, name, description, inputSchema }: BuiltinTool): PresentedTool {
  const row: VersionedRow = {
    id,
    name,
    description,
    status: 'published',
    version: BUILTIN_VERSION,
    publishedVersion: BUILTIN_VERSION,
    publishedAt: ALWAYS,
    archivedAt: null,
    createdBy: 'system',
    updatedBy: 'system',
    createdAt: ALWAYS,
    updatedAt: ALWAYS,
  }
  return presentTool(row, { name, description, kind: 'builtin', config: null, inputSchema, outputSchema: null })
}
