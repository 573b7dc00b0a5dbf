import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { archive } from '../versioned/archive'
import type { ArchiveTo } from '../versioned/columns'
import type { One } from '../versioned/noun'
import { refuseBuiltin } from './builtin'
import { TOOL } from './noun'
import type { PresentedTool } from './present'

/**
 * Takes a tool out of use: nobody can call it any more; agents and steps that name it fail. Archiving again changes
 * nothing.
 * @throws AppError TOOL_NOT_FOUND, CONFLICT for a built-in tool
 */
export function archiveTool(ctx: ServiceContext, input: One): Promise<PresentedTool> {
  return setArchived(ctx, input, 'archived')
}

/**
 * Brings an archived tool back as a draft; changes no other. `published` goes on meaning the version it meant before.
 * @throws AppError TOOL_NOT_FOUND, CONFLICT for a built-in tool
 */
export function unarchiveTool(ctx: ServiceContext, input: One): Promise<PresentedTool> {
  return setArchived(ctx, input, 'draft')
}

/** Undoes an archiving: the tool has the status it had before. @throws AppError TOOL_NOT_FOUND, CONFLICT for a built-in tool */
export function undoArchiveTool(ctx: ServiceContext, input: One): Promise<PresentedTool> {
  return setArchived(ctx, input, 'as before')
}

async function setArchived(ctx: ServiceContext, input: One, to: ArchiveTo): Promise<PresentedTool> {
  authorize(ctx, 'tool:publish')
  refuseBuiltin(input.id)
  return archive(ctx, TOOL, input, to)
}
