import type { tools, toolVersions } from '@/db/schema/tools'
import type { JsonObject } from '../definition/json'
import { presentItem, presentState, presentVersionItem } from '../versioned/present'
import { BUILTIN_VERSION, type BuiltinTool } from './builtin'
import type { ToolDefinition, ToolKind } from './schema'

export type ToolRow = typeof tools.$inferSelect
export type ToolVersionRow = typeof toolVersions.$inferSelect

/** One element of the list. */
export function presentToolItem(row: ToolRow, kind: ToolKind) {
  const { id, name, description, ...rest } = presentItem(row)
  return { id, name, description, kind, ...rest }
}

/** The full tool, as every call that returns one answers. */
export function presentTool(row: ToolRow, tool: ToolDefinition) {
  return {
    ...presentToolItem(row, tool.kind),
    config: tool.config as JsonObject | null,
    inputSchema: tool.inputSchema,
    outputSchema: tool.outputSchema,
    ...presentState(row),
  }
}
export type PresentedTool = ReturnType<typeof presentTool>

/** One element of the version list. */
export function presentToolVersionItem(
  version: Pick<ToolVersionRow, 'version' | 'name' | 'kind' | 'createdAt' | 'createdBy' | 'publishedAt'>,
  row: ToolRow,
) {
  const { id, version: number, name, ...rest } = presentVersionItem(version, row)
  return { id, version: number, name, kind: version.kind as ToolKind, ...rest }
}

/** A version with all it says. */
export function presentToolVersion(version: ToolVersionRow, row: ToolRow) {
  const { description, config, inputSchema, outputSchema } = definitionOf(version)
  return { ...presentToolVersionItem(version, row), description, config, inputSchema, outputSchema }
}

export function definitionOf(version: ToolVersionRow): ToolDefinition {
  return {
    name: version.name,
    description: version.description,
    kind: version.kind as ToolKind,
    config: version.config as JsonObject,
    inputSchema: (version.inputSchema ?? null) as JsonObject | null,
    outputSchema: (version.outputSchema ?? null) as JsonObject | null,
  }
}

/** As old as the product: there is no moment at which anybody made it. */
const ALWAYS = new Date(0)

/** A tool that everybody has, in the same shape; there is no configuration to show. */
export function presentBuiltin({ id, name, description, inputSchema }: BuiltinTool): PresentedTool {
  const row: ToolRow = {
    tenantId: '',
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
  return {
    ...presentTool(row, { name, description, kind: 'builtin', config: {}, inputSchema, outputSchema: null }),
    config: null,
  }
}
