import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { loadAgent } from './find'

/**
 * The output schema of an agent; supervisors may have one too.
 * @throws AppError AGENT_NOT_FOUND, AGENT_NO_STRUCTURED_OUTPUT
 */
export async function getAgentSchema(ctx: ServiceContext, input: { agentId: string; version?: string | undefined }) {
  authorize(ctx, 'agent:read')
  const { id, name, config } = await loadAgent(ctx, input.agentId, input.version ?? 'latest')
  if (config.outputSchema === null) throw new AppError('AGENT_NO_STRUCTURED_OUTPUT')
  return { agentId: id, name, outputSchema: config.outputSchema }
}
