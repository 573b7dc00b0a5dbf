import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { getAgentRow, getConfig } from './find'
import { type PresentedAgent, presentAgent } from './present'

/** The agent as last saved. @throws AppError AGENT_NOT_FOUND */
export async function getAgent(ctx: ServiceContext, id: string): Promise<PresentedAgent> {
  authorize(ctx, 'agent:read')
  const row = await getAgentRow(ctx, id)
  return presentAgent(row, await getConfig(ctx, row))
}
