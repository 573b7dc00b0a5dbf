import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { parseInput } from '../parse'
import { findWhole } from '../versioned/row-at'
import { refuseProblems } from '../versioned/rows'
import { refuseBuiltin } from './builtin'
import { mergeTool } from './definition'
import type { LoadedTool } from './loaded'
import { TOOL } from './noun'
import { UpdateTool } from './schema'

/**
 * A tool as it is being edited, ready to call, checked by the rules for a saved one.
 * @param draft the body of an update
 * @throws AppError TOOL_NOT_FOUND, TOOL_ARCHIVED, INVALID_INPUT, CONFLICT for a built-in tool
 */
export async function loadDraftTool(ctx: ServiceContext, toolId: string, draft: unknown): Promise<LoadedTool> {
  authorize(ctx, 'tool:write')
  refuseBuiltin(toolId)
  const change = parseInput(UpdateTool, draft)
  const { row, content } = await findWhole(ctx, TOOL, toolId)
  if (row.status === 'archived') throw new AppError('TOOL_ARCHIVED')
  const { id, version } = row
  const tool = mergeTool(content, change)
  await refuseProblems(ctx, TOOL, tool)
  return { ...tool, id, version }
}
