import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { PresentedDraft } from '../versioned/draft'
import type { One } from '../versioned/noun'
import { saveDraft } from '../versioned/save-draft'
import { AGENT } from './noun'

/**
 * Saves what somebody is typing, without a version; null discards it.
 * @throws AppError AGENT_NOT_FOUND, AGENT_ARCHIVED, VERSION_CONFLICT, INVALID_INPUT
 */
export async function saveAgentDraft(ctx: ServiceContext, input: One & { body: unknown }): Promise<PresentedDraft> {
  authorize(ctx, 'agent:write')
  return saveDraft(ctx, AGENT, input)
}
