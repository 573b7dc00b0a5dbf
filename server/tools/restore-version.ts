import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { refuseBuiltin } from './builtin'
import { getToolRow, getVersionRow } from './find'
import { definitionOf, type PresentedTool } from './present'
import { updateTool } from './update'

/**
 * Saves what an earlier version did as the next version; nothing is published. Restoring what is current already
 * is a no-op.
 * @throws AppError TOOL_NOT_FOUND, TOOL_ARCHIVED, VERSION_CONFLICT, INVALID_INPUT, CONFLICT for a built-in tool
 */
export async function restoreToolVersion(
  ctx: ServiceContext,
  input: { id: string; version: string; ifMatch?: string | null },
): Promise<PresentedTool> {
  authorize(ctx, 'tool:write')
  refuseBuiltin(input.id)
  const { id, version, ifMatch = null } = input
  // Versions never change, so this one may be read before the tool is locked.
  const earlier = definitionOf(await getVersionRow(ctx, await getToolRow(ctx, id), version))
  return updateTool(ctx, { id, body: earlier, ifMatch })
}
