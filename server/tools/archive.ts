import { and, eq } from 'drizzle-orm'
import { tools } from '@/db/schema/tools'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { ImpossibleState } from '../errors'
import { refuseBuiltin } from './builtin'
import { getToolRow, getVersionRow } from './find'
import { definitionOf, type PresentedTool, presentTool } from './present'

/**
 * Takes a tool out of use: nobody can call it any more, agents and steps that name it fail. A repeat is a no-op.
 * @throws AppError TOOL_NOT_FOUND, CONFLICT for a built-in tool
 */
export async function archiveTool(ctx: ServiceContext, id: string): Promise<PresentedTool> {
  authorize(ctx, 'tool:publish')
  return setArchived(ctx, id, true)
}

/**
 * Brings an archived tool back as a draft; on any other it is a no-op. An earlier published version stays what
 * `published` means.
 * @throws AppError TOOL_NOT_FOUND, CONFLICT for a built-in tool
 */
export async function unarchiveTool(ctx: ServiceContext, id: string): Promise<PresentedTool> {
  authorize(ctx, 'tool:publish')
  return setArchived(ctx, id, false)
}

async function setArchived(ctx: ServiceContext, id: string, archived: boolean): Promise<PresentedTool> {
  refuseBuiltin(id)
  return withTransaction(ctx, async (tx) => {
    const row = await getToolRow(tx, id, { lock: true })
    const tool = definitionOf(await getVersionRow(tx, row, row.version))
    if ((row.status === 'archived') === archived) return presentTool(row, tool)
    const now = tx.now()
    const [changed] = await tx.db
      .update(tools)
      .set({
        status: archived ? 'archived' : 'draft',
        archivedAt: archived ? now : null,
        updatedAt: now,
        updatedBy: tx.actor.id,
      })
      .where(and(eq(tools.tenantId, tx.tenantId), eq(tools.id, id)))
      .returning()
    if (!changed) throw new ImpossibleState('tool-archive', 'a locked row was not updated')
    return presentTool(changed, tool)
  })
}
