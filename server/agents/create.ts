import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { newId } from '../ids'
import { create } from '../versioned/create'
import { newConfig } from './config'
import { AGENT } from './noun'
import type { PresentedAgent } from './present'

/**
 * Creates a draft. Only `name` is required; the tools and agents it refers to are checked at publish.
 * @throws AppError INVALID_INPUT
 */
export async function createAgent(ctx: ServiceContext, input: unknown): Promise<PresentedAgent> {
  authorize(ctx, 'agent:write')
  const config = newConfig(input)
  return withTransaction(ctx, (tx) => create(tx, AGENT, newId(AGENT.idPrefix), config))
}
