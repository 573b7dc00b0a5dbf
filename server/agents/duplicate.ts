import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { duplicate } from '../versioned/duplicate'
import type { One } from '../versioned/noun'
import { AGENT } from './noun'
import type { PresentedAgent } from './present'

/**
 * Creates a draft with the latest saved configuration; works for archived agents too.
 * @throws AppError AGENT_NOT_FOUND
 */
export async function duplicateAgent(ctx: ServiceContext, input: One): Promise<PresentedAgent> {
  authorize(ctx, 'agent:write')
  return duplicate(ctx, AGENT, input)
}
