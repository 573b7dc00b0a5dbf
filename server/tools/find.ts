import { and, eq } from 'drizzle-orm'
import { tools, toolVersions } from '@/db/schema/tools'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { isId } from '../ids'
import { resolveVersion } from '../versions'
import { BUILTIN_VERSION, findBuiltinTool } from './builtin'

export interface ToolVersion {
  id: string
  name: string
  version: number
  kind: string
  config: unknown
}

/**
 * A tool of the tenant's, or one that everybody has.
 * @throws AppError TOOL_NOT_FOUND for an unknown tool, an unknown version, or another tenant's
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
    return { id: builtin.id, name: builtin.name, version: BUILTIN_VERSION, kind: 'builtin', config: builtin.id }
  }
  const [tool] = await ctx.db
    .select()
    .from(tools)
    .where(and(eq(tools.tenantId, ctx.tenantId), eq(tools.id, toolId)))
  if (!tool || tool.status === 'archived') throw missing()
  const wanted = resolveVersion(version, tool)
  if (wanted === null) throw missing()
  const [row] = await ctx.db
    .select()
    .from(toolVersions)
    .where(
      and(eq(toolVersions.tenantId, ctx.tenantId), eq(toolVersions.toolId, toolId), eq(toolVersions.version, wanted)),
    )
  if (!row) throw missing()
  return { id: tool.id, name: tool.name, version: row.version, kind: row.kind, config: row.config }
}
