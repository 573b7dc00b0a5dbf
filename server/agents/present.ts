import type { agents, agentVersions } from '@/db/schema/agents'
import type { AgentConfig } from './schema'

export type AgentRow = typeof agents.$inferSelect
export type AgentVersionRow = typeof agentVersions.$inferSelect

/** One element of the list. */
export function presentAgentItem(row: AgentRow) {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    status: row.status,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    version: row.version,
    publishedVersion: row.publishedVersion,
  }
}

/** The agent with all it says, as every call that returns one answers. */
export function presentAgent(row: AgentRow, config: AgentConfig) {
  return {
    ...presentAgentItem(row),
    ...said(config),
    publishedAt: row.publishedAt?.toISOString() ?? null,
    archivedAt: row.archivedAt?.toISOString() ?? null,
    hasUnpublishedChanges: row.publishedVersion !== row.version,
    createdBy: row.createdBy,
    updatedBy: row.updatedBy,
  }
}

function said({ instructions, model, tools, outputSchema, supervisor, handoffs }: AgentConfig) {
  return { instructions, model, tools, outputSchema, supervisor, handoffs }
}

/** One element of the version list. */
export function presentVersionItem(version: Omit<AgentVersionRow, 'config' | 'tenantId'>, row: AgentRow) {
  return {
    id: version.agentId,
    version: version.version,
    name: version.name,
    createdAt: version.createdAt.toISOString(),
    createdBy: version.createdBy,
    publishedAt: version.publishedAt?.toISOString() ?? null,
    current: version.version === row.version,
    published: version.version === row.publishedVersion,
  }
}

/** A version with all it says. */
export function presentVersion(version: AgentVersionRow, row: AgentRow) {
  const config = version.config as AgentConfig
  return { ...presentVersionItem(version, row), description: config.description, ...said(config) }
}

export type PresentedAgent = ReturnType<typeof presentAgent>
