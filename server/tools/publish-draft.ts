import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { type PublishDraft, publishDraft } from '../versioned/publish-draft'
import { refuseBuiltin } from './builtin'
import { TOOL } from './noun'
import type { PresentedTool } from './present'

/**
 * Makes the draft the next version and publishes it; without a draft, publishes the latest version.
 * @throws AppError TOOL_NOT_FOUND, TOOL_ARCHIVED, VERSION_CONFLICT, INVALID_INPUT, CONFLICT for a built-in tool
 */
export async function publishToolDraft(ctx: ServiceContext, input: PublishDraft): Promise<PresentedTool> {
  authorize(ctx, 'tool:write')
  authorize(ctx, 'tool:publish')
  refuseBuiltin(input.id)
  return publishDraft(ctx, TOOL, input, async () => ({ report: {} }))
}
