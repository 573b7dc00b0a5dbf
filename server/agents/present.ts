import type { agents, agentVersions } from '@/db/schema/agents'
import { presentItem, presentState, presentVersionItem } from '../versioned/present'
import type { AgentConfig } from './schema'

export type AgentRow = typeof agents.$inferSelect
export type AgentVersionRow = typeof agentVersions.$inferSelect

/** The agent with its whole configuration, as every call that returns an agent shows it. */
export function presentAgent(row: AgentRow, config: AgentConfig) {
  return {
    ...presentItem(row),
    ...configured(config),
    ...presentState(row),
  }
}

function configured(config: AgentConfig) {
  const { instructions, model, fallbacks, fallbackOn, limits, tools, outputSchema, supervisor, handoffs } = config
  return {
    ...{ instructions, model },
    ...(fallbacks ? { fallbacks } : {}),
    ...(fallbackOn ? { fallbackOn } : {}),
    ...(limits ? { limits } : {}),
    ...{ tools, outputSchema, supervisor, handoffs },
  }
}

/** A version with its whole configuration. */
export function presentVersion(version: AgentVersionRow, row: AgentRow) {
  const config = version.config
  return { ...presentVersionItem(version, row), description: config.description, ...configured(config) }
}

export type PresentedAgent = ReturnType<typeof presentAgent>
