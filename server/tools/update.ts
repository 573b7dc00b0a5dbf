import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { Guarded } from '../versioned/noun'
import { update } from '../versioned/update'
import { refuseBuiltin } from './builtin'
import { mergeTool } from './definition'
import { TOOL } from './noun'
import type { PresentedTool } from './present'
import { UpdateTool } from './schema'

/**
 * Saves a change as the next version. Fields the body leaves out keep their values; a body that changes nothing makes
 * no version.
 * @throws AppError TOOL_NOT_FOUND, TOOL_ARCHIVED, VERSION_CONFLICT, INVALID_INPUT, CONFLICT for a built-in tool
 */
export async function updateTool(ctx: ServiceContext, input: Guarded & { body: unknown }): Promise<PresentedTool> {
  authorize(ctx, 'tool:write')
  refuseBuiltin(input.id)
  return update(ctx, TOOL, input, { schema: UpdateTool, merge: mergeTool })
}
