import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { archive } from '../versioned/archive'
import type { One } from '../versioned/noun'
import { AGENT } from './noun'
import type { PresentedAgent } from './present'

/**
 * Archives an agent, so it can no longer be invoked. Its threads stay. Archiving it again changes nothing.
 * @throws AppError AGENT_NOT_FOUND
 */
export async function archiveAgent(ctx: ServiceContext, input: One): Promise<PresentedAgent> {
  authorize(ctx, 'agent:publish')
  return archive(ctx, AGENT, input, 'archived')
}

/**
 * Brings an archived agent back as a draft; an agent that is not archived stays as it is.
 * @throws AppError AGENT_NOT_FOUND
 */
export async function unarchiveAgent(ctx: ServiceContext, input: One): Promise<PresentedAgent> {
  authorize(ctx, 'agent:publish')
  return archive(ctx, AGENT, input, 'draft')
}

/**
 * Undoes an archive: the agent gets its previous status back.
 * @throws AppError AGENT_NOT_FOUND
 */
export async function undoArchiveAgent(ctx: ServiceContext, input: One): Promise<PresentedAgent> {
  authorize(ctx, 'agent:publish')
  return archive(ctx, AGENT, input, 'as before')
}
