import { agents, agentVersions } from '@/db/schema/agents'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { ImpossibleState } from '../errors'
import { newId } from '../ids'
import { firstDraft } from '../versioned/columns'
import { newConfig } from './config'
import { type PresentedAgent, presentAgent } from './present'
import type { AgentConfig } from './schema'

/** A new draft. Only `name` is required; what it names is checked at publish. @throws AppError INVALID_INPUT */
export async function createAgent(ctx: ServiceContext, body: unknown): Promise<PresentedAgent> {
  authorize(ctx, 'agent:write')
  const config = newConfig(body)
  return withTransaction(ctx, async (tx) => insertAgent(tx, newId('agt'), config))
}

/** Writes the first version. Used by the samples too, which have fixed ids. */
export async function insertAgent(ctx: ServiceContext, id: string, config: AgentConfig): Promise<PresentedAgent> {
  const draft = firstDraft(ctx)
  const [row] = await ctx.db
    .insert(agents)
    .values({ ...draft, id, name: config.name, description: config.description })
    .returning()
  if (!row) throw new ImpossibleState('agent-insert', 'an insert returned no row')
  await ctx.db.insert(agentVersions).values({
    tenantId: ctx.tenantId,
    agentId: id,
    version: 1,
    name: config.name,
    config,
    createdBy: draft.createdBy,
    createdAt: draft.createdAt,
  })
  return presentAgent(row, config)
}
