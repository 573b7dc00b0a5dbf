import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { get } from '../versioned/get'
import type { One } from '../versioned/noun'
import { findBuiltinTool } from './builtin'
import { TOOL } from './noun'
import { type PresentedTool, presentBuiltin } from './present'

/**
 * The latest saved version; works for archived and built-in tools too.
 * @throws AppError TOOL_NOT_FOUND
 */
export async function getTool(ctx: ServiceContext, input: One): Promise<PresentedTool> {
  authorize(ctx, 'tool:read')
  const builtin = findBuiltinTool(input.id)
  return builtin ? presentBuiltin(builtin) : get(ctx, TOOL, input)
}
