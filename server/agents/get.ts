import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { get } from '../versioned/get'
import type { One } from '../versioned/noun'
import { AGENT } from './noun'
import type { PresentedAgent } from './present'

/** The agent as last saved, also an archived one. @throws AppError AGENT_NOT_FOUND */
export async function getAgent(ctx: ServiceContext, input: One): Promise<PresentedAgent> {
  authorize(ctx, 'agent:read')
  return get(ctx, AGENT, input)
}
