import { and, eq } from 'drizzle-orm'
import { agents, agentVersions } from '@/db/schema/agents'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { isId } from '../ids'
import { resolveVersion } from '../versioned/versions'
import type { AgentRow, AgentVersionRow } from './present'
import type { AgentConfig } from './schema'

/** The agent's row, locked when asked. @throws AppError AGENT_NOT_FOUND, also for another tenant's */
export async function getAgentRow(
  ctx: ServiceContext,
  id: string,
  options: { lock?: boolean } = {},
): Promise<AgentRow> {
  if (!isId(id)) throw new AppError('AGENT_NOT_FOUND')
  const query = ctx.db
    .select()
    .from(agents)
    .where(and(eq(agents.tenantId, ctx.tenantId), eq(agents.id, id)))
  const [row] = await (options.lock ? query.for('update') : query)
  if (!row) throw new AppError('AGENT_NOT_FOUND')
  return row
}

/** A version's row by `latest`, `published` or a number. @throws AppError AGENT_NOT_FOUND */
export async function getVersionRow(
  ctx: ServiceContext,
  row: AgentRow,
  wanted: string | number,
): Promise<AgentVersionRow> {
  const version = resolveVersion(wanted, row)
  if (version === null) throw new AppError('AGENT_NOT_FOUND')
  const [found] = await ctx.db
    .select()
    .from(agentVersions)
    .where(
      and(
        eq(agentVersions.tenantId, ctx.tenantId),
        eq(agentVersions.agentId, row.id),
        eq(agentVersions.version, version),
      ),
    )
  if (!found) throw new AppError('AGENT_NOT_FOUND')
  return found
}

/** The configuration as last saved. @throws AppError AGENT_NOT_FOUND */
export async function getConfig(ctx: ServiceContext, row: AgentRow): Promise<AgentConfig> {
  return (await getVersionRow(ctx, row, 'latest')).config
}

/** An agent that can be spoken to, in one version. */
export interface LoadedAgent {
  id: string
  name: string
  version: number
  config: AgentConfig
}

/**
 * The agent in a version, to be spoken to.
 * @throws AppError AGENT_NOT_FOUND for an unknown or archived agent, an unknown version, or another tenant's
 */
export async function loadAgent(ctx: ServiceContext, id: string, version: string | number): Promise<LoadedAgent> {
  const row = await getAgentRow(ctx, id)
  if (row.status === 'archived') throw new AppError('AGENT_NOT_FOUND')
  const found = await getVersionRow(ctx, row, version)
  return { id: row.id, name: found.name, version: found.version, config: found.config }
}
