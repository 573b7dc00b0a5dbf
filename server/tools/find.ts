import { and, eq } from 'drizzle-orm'
import { tools, toolVersions } from '@/db/schema/tools'
import type { ServiceContext } from '../context'
import type { JsonObject, JsonValue } from '../definition/json'
import { AppError } from '../errors'
import { isId } from '../ids'
import { resolveVersion } from '../versioned/versions'
import { BUILTIN_VERSION, findBuiltinTool } from './builtin'
import type { ToolRow, ToolVersionRow } from './present'

/** A version of a tool, ready to be called. */
export interface ToolVersion {
  id: string
  name: string
  description: string
  version: number
  kind: string
  config: JsonValue
  inputSchema: JsonObject | null
  outputSchema: JsonObject | null
}

/**
 * A tool of the tenant's, or one that everybody has.
 * @throws AppError TOOL_NOT_FOUND for an unknown tool, an unknown version, an archived or another tenant's
 */
export async function getToolVersion(
  ctx: ServiceContext,
  toolId: string,
  version: string | number,
): Promise<ToolVersion> {
  const missing = () => new AppError('TOOL_NOT_FOUND')
  if (!isId(toolId)) throw missing()
  const builtin = findBuiltinTool(toolId)
  if (builtin) {
    if (resolveVersion(version, { version: BUILTIN_VERSION, publishedVersion: BUILTIN_VERSION }) === null)
      throw missing()
    const { id, name, description, inputSchema } = builtin
    return {
      id,
      name,
      description,
      version: BUILTIN_VERSION,
      kind: 'builtin',
      config: id,
      inputSchema,
      outputSchema: null,
    }
  }
  const tool = await getToolRow(ctx, toolId)
  if (tool.status === 'archived') throw missing()
  const row = await getVersionRow(ctx, tool, version)
  return {
    id: tool.id,
    name: row.name || tool.name,
    description: row.description || tool.description,
    version: row.version,
    kind: row.kind,
    config: row.config,
    inputSchema: row.inputSchema,
    outputSchema: row.outputSchema,
  }
}

/**
 * The tool's row, locked when asked. A built-in tool has none.
 * @throws AppError TOOL_NOT_FOUND, also for another tenant's
 */
export async function getToolRow(ctx: ServiceContext, id: string, options: { lock?: boolean } = {}): Promise<ToolRow> {
  if (!isId(id)) throw new AppError('TOOL_NOT_FOUND')
  const query = ctx.db
    .select()
    .from(tools)
    .where(and(eq(tools.tenantId, ctx.tenantId), eq(tools.id, id)))
  const [row] = await (options.lock ? query.for('update') : query)
  if (!row) throw new AppError('TOOL_NOT_FOUND')
  return row
}

/** @throws AppError TOOL_NOT_FOUND when there is no such version */
export async function getVersionRow(
  ctx: ServiceContext,
  tool: ToolRow,
  wanted: string | number,
): Promise<ToolVersionRow> {
  const version = resolveVersion(wanted, tool)
  const [row] =
    version === null
      ? []
      : await ctx.db
          .select()
          .from(toolVersions)
          .where(toolVersionIs(ctx, tool.id, version))
  if (!row) throw new AppError('TOOL_NOT_FOUND')
  return row
}

/** The condition that picks one version. */
export function toolVersionIs(ctx: ServiceContext, toolId: string, version: number) {
  return and(
    eq(toolVersions.tenantId, ctx.tenantId),
    eq(toolVersions.toolId, toolId),
    eq(toolVersions.version, version),
  )
}
