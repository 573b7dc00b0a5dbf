import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { type PublishDraft, publishDraft } from '../versioned/publish-draft'
import { AGENT } from './noun'
import type { PresentedAgent } from './present'
import { checkAgent } from './publish'

/**
 * Makes the draft the next version and publishes it; without a draft, publishes the latest version.
 * @throws AppError AGENT_NOT_FOUND, AGENT_ARCHIVED, VERSION_CONFLICT, INVALID_INPUT, VALIDATION_FAILED
 */
export async function publishAgentDraft(ctx: ServiceContext, input: PublishDraft): Promise<PresentedAgent> {
  authorize(ctx, 'agent:write')
  authorize(ctx, 'agent:publish')
  return publishDraft(ctx, AGENT, input, checkAgent)
}
