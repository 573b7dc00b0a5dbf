import { AGENT } from '../../agents/noun'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import type { One } from '../../versioned/noun'
import { openDraft } from '../../versioned/open-draft'
import { withDraftAuthor } from '../versioned'

/**
 * What an agent's page opens: the latest version and the draft beside it.
 * @throws AppError AGENT_NOT_FOUND
 */
export async function openAgent(ctx: ServiceContext, input: One) {
  authorize(ctx, 'agent:read')
  return withDraftAuthor(ctx, await openDraft(ctx, AGENT, input))
}
