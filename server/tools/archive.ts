import { and, eq } from 'drizzle-orm'
import { tools } from '@/db/schema/tools'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { ImpossibleState } from '../errors'
import { type ArchiveTo, archived } from '../versioned/columns'
import { refuseBuiltin } from './builtin'
import { getToolRow, getVersionRow } from './find'
import { definitionOf, type PresentedTool, presentTool } from './present'

/**
 * Takes a tool out of use: nobody can call it any more, agents and steps that name it fail. A repeat is a no-op.
 * @throws AppError TOOL_NOT_FOUND, CONFLICT for a built-in tool
 */
export async function archiveTool(ctx: ServiceContext, id: string): Promise<PresentedTool> {
  authorize(ctx, 'tool:publish')
  return setArchived(ctx, id, 'archived')
}

/**
 * Brings an archived tool back as a draft; on any other it is a no-op. An earlier published version stays what
 * `published` means.
 * @throws AppError TOOL_NOT_FOUND, CONFLICT for a built-in tool
 */
export async function unarchiveTool(ctx: ServiceContext, id: string): Promise<PresentedTool> {
  authorize(ctx, 'tool:publish')
  return setArchived(ctx, id, 'draft')
}

/** Takes an archiving back, so that the tool is what it was. @throws AppError TOOL_NOT_FOUND, CONFLICT for a built-in tool */
export async function undoArchiveTool(ctx: ServiceContext, id: string): Promise<PresentedTool> {
  authorize(ctx, 'tool:publish')
  return setArchived(ctx, id, 'as it was')
}

async function setArchived(ctx: ServiceContext, id: string, to: ArchiveTo): Promise<PresentedTool> {
  refuseBuiltin(id)
  return withTransaction(ctx, async (tx) => {
    const row = await getToolRow(tx, id, { lock: true })
    const tool = definitionOf(await getVersionRow(tx, row, row.version))
    const change = archived(tx, row, to)
    if (!change) return presentTool(row, tool)
    const [changed] = await tx.db
      .update(tools)
      .set(change)
      .where(and(eq(tools.tenantId, tx.tenantId), eq(tools.id, id)))
      .returning()
    if (!changed) throw new ImpossibleState('tool-archive', 'a locked row was not updated')
    return presentTool(changed, tool)
  })
}
