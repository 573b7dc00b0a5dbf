import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { get } from '../versioned/get'
import type { One } from '../versioned/noun'
import { AGENT } from './noun'
import type { PresentedAgent } from './present'

/**
 * The latest saved version; works for archived agents too.
 * @throws AppError AGENT_NOT_FOUND
 */
export async function getAgent(ctx: ServiceContext, input: One): Promise<PresentedAgent> {
  authorize(ctx, 'agent:read')
  return get(ctx, AGENT, input)
}
