import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { PresentedDraft } from '../versioned/draft'
import type { One } from '../versioned/noun'
import { saveDraft } from '../versioned/save-draft'
import { refuseBuiltin } from './builtin'
import { TOOL } from './noun'

/**
 * Saves what somebody is typing, without a version; null discards it.
 * @throws AppError TOOL_NOT_FOUND, TOOL_ARCHIVED, VERSION_CONFLICT, INVALID_INPUT, CONFLICT for a built-in tool
 */
export async function saveToolDraft(ctx: ServiceContext, input: One & { body: unknown }): Promise<PresentedDraft> {
  authorize(ctx, 'tool:write')
  refuseBuiltin(input.id)
  return saveDraft(ctx, TOOL, input)
}
