import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { archive } from '../versioned/archive'
import type { ArchiveTo } from '../versioned/columns'
import type { One } from '../versioned/noun'
import { refuseBuiltin } from './builtin'
import { TOOL } from './noun'
import type { PresentedTool } from './present'

/**
 * Archives a tool, so it can no longer be called; agents and steps that refer to it fail. Archiving it again changes
 * nothing.
 * @throws AppError TOOL_NOT_FOUND, CONFLICT for a built-in tool
 */
export function archiveTool(ctx: ServiceContext, input: One): Promise<PresentedTool> {
  return setArchived(ctx, input, 'archived')
}

/**
 * Brings an archived tool back as a draft; a tool that is not archived stays as it is. `published` still means the
 * version it meant before.
 * @throws AppError TOOL_NOT_FOUND, CONFLICT for a built-in tool
 */
export function unarchiveTool(ctx: ServiceContext, input: One): Promise<PresentedTool> {
  return setArchived(ctx, input, 'draft')
}

/**
 * Undoes an archive: the tool gets its previous status back.
 * @throws AppError TOOL_NOT_FOUND, CONFLICT for a built-in tool
 */
export function undoArchiveTool(ctx: ServiceContext, input: One): Promise<PresentedTool> {
  return setArchived(ctx, input, 'as before')
}

async function setArchived(ctx: ServiceContext, input: One, to: ArchiveTo): Promise<PresentedTool> {
  authorize(ctx, 'tool:publish')
  refuseBuiltin(input.id)
  return archive(ctx, TOOL, input, to)
}
