import type { ServiceContext } from '../context'
import type { AgentLimits, TurnAsked } from '../definition/agent'
import type { JsonObject } from '../definition/json'
import { AppError } from '../errors'
import { findRowAt } from '../versioned/row-at'
import { AGENT } from './noun'
import type { AgentConfig } from './schema'

/** One version of an agent, ready to invoke. */
export interface LoadedAgent {
  id: string
  name: string
  version: number
  config: AgentConfig
  /** Those of all agents of its workspace. */
  workspaceLimits: AgentLimits | null
  /** Set for one that is being edited; `version` is its base. */
  draft?: true
}

/**
 * Loads a version of an agent to invoke.
 * @throws AppError AGENT_NOT_FOUND for an unknown or archived agent, an unknown version, or another tenant's agent
 */
export async function loadAgent(ctx: ServiceContext, id: string, version: string | number): Promise<LoadedAgent> {
  const { row, version: found, workspaceLimits } = await findRowAt(ctx, AGENT, id, version)
  if (row.status === 'archived') throw new AppError('AGENT_NOT_FOUND')
  return { id: row.id, name: found.name, version: found.version, config: AGENT.contentOf(found), workspaceLimits }
}

/** What a turn keeps of an agent that is being edited, which nothing else does. */
export function draftOf({ draft, name, config }: LoadedAgent): Pick<TurnAsked, 'draft'> {
  return draft ? { draft: { name, config: config as unknown as JsonObject } } : {}
}

/**
 * The agent of a turn that invoke or chat began.
 * @throws AppError AGENT_NOT_FOUND, as `loadAgent`
 */
export async function loadAsked(
  ctx: ServiceContext,
  { agentId, version }: { agentId: string; version: number },
  asked: Pick<TurnAsked, 'draft'> | null,
): Promise<LoadedAgent> {
  if (!asked?.draft) return loadAgent(ctx, agentId, version)
  const { name, config } = asked.draft
  const { id, workspaceLimits } = await loadAgent(ctx, agentId, 'latest')
  return { id, name, version, config: config as unknown as AgentConfig, workspaceLimits, draft: true }
}
