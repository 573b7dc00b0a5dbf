import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { PresentedDraft } from '../versioned/draft'
import { type RestoreDraft, restoreIntoDraft } from '../versioned/restore-draft'
import { refuseBuiltin } from './builtin'
import { TOOL } from './noun'

/**
 * Puts an earlier version into the draft; nothing is published.
 * @throws AppError TOOL_NOT_FOUND, TOOL_ARCHIVED, VERSION_CONFLICT, INVALID_INPUT, CONFLICT for a built-in tool
 */
export async function restoreToolVersion(ctx: ServiceContext, input: RestoreDraft): Promise<PresentedDraft> {
  authorize(ctx, 'tool:write')
  refuseBuiltin(input.id)
  return restoreIntoDraft(ctx, TOOL, input)
}
