import { isInTransaction, type ServiceContext } from '../context'
import { AppError } from '../errors'
import { isId } from '../ids'
import { findRowAt } from '../versioned/row-at'
import { resolveVersion } from '../versioned/versions'
import { BUILTIN_VERSION, findBuiltinTool } from './builtin'
import { cacheTool } from './known'
import type { LoadedTool } from './loaded'
import { TOOL } from './noun'

/**
 * A tool of the tenant, or a built-in one.
 * @throws AppError TOOL_NOT_FOUND for an unknown or archived tool, an unknown version, or another tenant's tool
 */
export async function loadTool(ctx: ServiceContext, toolId: string, version: string | number): Promise<LoadedTool> {
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
  const { row: tool, version: row } = await findRowAt(ctx, TOOL, toolId, version)
  if (tool.status === 'archived') throw missing()
  const loaded = {
    id: tool.id,
    name: row.name || tool.name,
    description: row.description || tool.description,
    version: row.version,
    kind: row.kind,
    config: row.config,
    inputSchema: row.inputSchema,
    outputSchema: row.outputSchema,
  }
  // A version that a transaction has written may never be committed, and another one get its number.
  if (!isInTransaction(ctx)) cacheTool(ctx.tenantId, tool, version, loaded)
  return loaded
}
