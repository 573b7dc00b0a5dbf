import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { findBuiltinTool } from './builtin'
import { getToolRow, getVersionRow } from './find'
import { definitionOf, type PresentedTool, presentBuiltin, presentTool } from './present'

/** The tool as last saved, archived ones and built-in ones too. @throws AppError TOOL_NOT_FOUND */
export async function getTool(ctx: ServiceContext, id: string): Promise<PresentedTool> {
  authorize(ctx, 'tool:read')
  const builtin = findBuiltinTool(id)
  if (builtin) return presentBuiltin(builtin)
  const row = await getToolRow(ctx, id)
  // By its number: versions never change or go, so this one is there whatever is saved meanwhile.
  return presentTool(row, definitionOf(await getVersionRow(ctx, row, row.version)))
}
