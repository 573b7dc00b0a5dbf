import { and, eq } from 'drizzle-orm'
import { agents } from '@/db/schema/agents'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { ImpossibleState } from '../errors'
import { type ArchiveTo, archived } from '../versioned/columns'
import { getAgentRow, getConfig } from './find'
import { type PresentedAgent, presentAgent } from './present'

/**
 * Takes an agent out of use: nobody can speak to it any more. Its threads stay. A repeat is a no-op.
 * @throws AppError AGENT_NOT_FOUND
 */
export async function archiveAgent(ctx: ServiceContext, id: string): Promise<PresentedAgent> {
  authorize(ctx, 'agent:publish')
  return setArchived(ctx, id, 'archived')
}

/** Brings an archived agent back as a draft; on any other it is a no-op. @throws AppError AGENT_NOT_FOUND */
export async function unarchiveAgent(ctx: ServiceContext, id: string): Promise<PresentedAgent> {
  authorize(ctx, 'agent:publish')
  return setArchived(ctx, id, 'draft')
}

/** Takes an archiving back, so that the agent is what it was. @throws AppError AGENT_NOT_FOUND */
export async function undoArchiveAgent(ctx: ServiceContext, id: string): Promise<PresentedAgent> {
  authorize(ctx, 'agent:publish')
  return setArchived(ctx, id, 'as it was')
}

async function setArchived(ctx: ServiceContext, id: string, to: ArchiveTo): Promise<PresentedAgent> {
  return withTransaction(ctx, async (tx) => {
    const row = await getAgentRow(tx, id, { lock: true })
    const config = await getConfig(tx, row)
    const change = archived(tx, row, to)
    if (!change) return presentAgent(row, config)
    const [changed] = await tx.db
      .update(agents)
      .set(change)
      .where(and(eq(agents.tenantId, tx.tenantId), eq(agents.id, id)))
      .returning()
    if (!changed) throw new ImpossibleState('agent-archive', 'a locked row was not updated')
    return presentAgent(changed, config)
  })
}
