import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { duplicate } from '../versioned/duplicate'
import type { One } from '../versioned/noun'
import { refuseBuiltin } from './builtin'
import { TOOL } from './noun'
import type { PresentedTool } from './present'

/**
 * Creates a draft from the latest saved version; works for archived tools too.
 * @throws AppError TOOL_NOT_FOUND, CONFLICT for a built-in tool
 */
export async function duplicateTool(ctx: ServiceContext, input: One): Promise<PresentedTool> {
  authorize(ctx, 'tool:write')
  refuseBuiltin(input.id)
  return duplicate(ctx, TOOL, input)
}
