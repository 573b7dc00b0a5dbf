import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { PresentedDraft } from '../versioned/draft'
import { type RestoreDraft, restoreIntoDraft } from '../versioned/restore-draft'
import { AGENT } from './noun'

/**
 * Puts an earlier version into the draft; nothing is published.
 * @throws AppError AGENT_NOT_FOUND, AGENT_ARCHIVED, VERSION_CONFLICT, INVALID_INPUT
 */
export async function restoreAgentVersion(ctx: ServiceContext, input: RestoreDraft): Promise<PresentedDraft> {
  authorize(ctx, 'agent:write')
  return restoreIntoDraft(ctx, AGENT, input)
}
