import type { agents, agentVersions } from '@/db/schema/agents'
import { presentItem, presentState, presentVersionItem } from '../versioned/present'
import type { AgentConfig } from './schema'

export type AgentRow = typeof agents.$inferSelect
export type AgentVersionRow = typeof agentVersions.$inferSelect

/** The agent with all it says, as every call that returns one answers. */
export function presentAgent(row: AgentRow, config: AgentConfig) {
  return {
    ...presentItem(row),
    ...said(config),
    ...presentState(row),
  }
}

function said({ instructions, model, tools, outputSchema, supervisor, handoffs }: AgentConfig) {
  return { instructions, model, tools, outputSchema, supervisor, handoffs }
}

/** A version with all it says. */
export function presentVersion(version: AgentVersionRow, row: AgentRow) {
  const config = version.config
  return { ...presentVersionItem(version, row), description: config.description, ...said(config) }
}

export type PresentedAgent = ReturnType<typeof presentAgent>
