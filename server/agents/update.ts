import { and, eq } from 'drizzle-orm'
import { agents, agentVersions } from '@/db/schema/agents'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { AppError, ImpossibleState } from '../errors'
import { parseInput } from '../parse'
import { expectVersion, readIfMatch } from '../versioned/expected-version'
import { mergeConfig, sameConfig } from './config'
import { getAgentRow, getConfig } from './find'
import { type PresentedAgent, presentAgent } from './present'
import { UpdateAgent } from './schema'

/**
 * Saves a change as the next version. What the body does not name stays; a body that changes nothing makes no
 * version. The status stays: `published` goes on meaning the version that is.
 * @throws AppError AGENT_NOT_FOUND, CONFLICT when archived, VERSION_CONFLICT, INVALID_INPUT
 */
export async function updateAgent(
  ctx: ServiceContext,
  input: { agentId: string; body: unknown; ifMatch?: string | null },
): Promise<PresentedAgent> {
  authorize(ctx, 'agent:write')
  const ifMatch = readIfMatch(input.ifMatch)
  const change = parseInput(UpdateAgent, input.body)
  return withTransaction(ctx, async (tx) => {
    const row = await getAgentRow(tx, input.agentId, { lock: true })
    if (row.status === 'archived') throw archived()
    expectVersion(row, { ifMatch, version: change.version })
    const current = await getConfig(tx, row)
    const config = mergeConfig(current, change)
    if (sameConfig(current, config)) return presentAgent(row, current)
    const now = tx.now()
    const version = row.version + 1
    await tx.db.insert(agentVersions).values({
      tenantId: tx.tenantId,
      agentId: row.id,
      version,
      name: config.name,
      config,
      createdBy: tx.actor.id,
      createdAt: now,
    })
    const { name, description } = config
    const [saved] = await tx.db
      .update(agents)
      .set({ name, description, version, updatedBy: tx.actor.id, updatedAt: now })
      .where(and(eq(agents.tenantId, tx.tenantId), eq(agents.id, row.id)))
      .returning()
    if (!saved) throw new ImpossibleState('agent-save', 'a locked row was not updated')
    return presentAgent(saved, config)
  })
}

export function archived(): AppError {
  return new AppError('CONFLICT', { message: 'The agent is archived' })
}
