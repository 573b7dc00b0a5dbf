import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { parseInput } from '../parse'
import { findWhole } from '../versioned/row-at'
import { refuseProblems } from '../versioned/rows'
import { mergeConfig } from './config'
import type { LoadedAgent } from './find'
import { AGENT } from './noun'
import { UpdateAgent } from './schema'

/**
 * An agent as it is being edited, ready to invoke, checked by the rules for a saved one.
 * @param draft the body of an update
 * @throws AppError AGENT_NOT_FOUND, AGENT_ARCHIVED, INVALID_INPUT
 */
export async function loadDraft(ctx: ServiceContext, agentId: string, draft: unknown): Promise<LoadedAgent> {
  authorize(ctx, 'agent:write')
  const change = parseInput(UpdateAgent, draft)
  const { row, content, workspaceLimits } = await findWhole(ctx, AGENT, agentId)
  if (row.status === 'archived') throw new AppError('AGENT_ARCHIVED')
  const config = mergeConfig(content, change)
  await refuseProblems(ctx, AGENT, config)
  return { id: row.id, name: config.name, version: row.version, config, workspaceLimits, draft: true }
}
