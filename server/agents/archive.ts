import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { archive } from '../versioned/archive'
import type { One } from '../versioned/noun'
import { AGENT } from './noun'
import type { PresentedAgent } from './present'

/**
 * Takes an agent out of use: nobody can speak to it any more. Its threads stay. Archiving again changes nothing.
 * @throws AppError AGENT_NOT_FOUND
 */
export async function archiveAgent(ctx: ServiceContext, input: One): Promise<PresentedAgent> {
  authorize(ctx, 'agent:publish')
  return archive(ctx, AGENT, input, 'archived')
}

/** Brings an archived agent back as a draft; changes no other. @throws AppError AGENT_NOT_FOUND */
export async function unarchiveAgent(ctx: ServiceContext, input: One): Promise<PresentedAgent> {
  authorize(ctx, 'agent:publish')
  return archive(ctx, AGENT, input, 'draft')
}

/** Undoes an archiving: the agent has the status it had before. @throws AppError AGENT_NOT_FOUND */
export async function undoArchiveAgent(ctx: ServiceContext, input: One): Promise<PresentedAgent> {
  authorize(ctx, 'agent:publish')
  return archive(ctx, AGENT, input, 'as before')
}
