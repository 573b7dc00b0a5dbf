import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { Guarded } from '../versioned/noun'
import { publish } from '../versioned/publish'
import { refuseBuiltin } from './builtin'
import { TOOL } from './noun'
import type { PresentedTool } from './present'

/**
 * Makes the latest saved version the one `published` means. Publishing it again without a change does nothing.
 * @throws AppError TOOL_NOT_FOUND, TOOL_ARCHIVED, VERSION_CONFLICT, INVALID_INPUT, CONFLICT for a built-in tool
 */
export async function publishTool(ctx: ServiceContext, input: Guarded): Promise<PresentedTool> {
  authorize(ctx, 'tool:publish')
  refuseBuiltin(input.id)
  // Any version that could be saved now can be published.
  return publish(ctx, TOOL, input, async () => ({ report: {} }))
}
