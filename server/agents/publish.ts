import { and, eq } from 'drizzle-orm'
import { agents, agentVersions } from '@/db/schema/agents'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { AppError, type ErrorDetail, ImpossibleState } from '../errors'
import { getToolVersion } from '../tools/find'
import { goneLive } from '../versioned/columns'
import { expectVersion, readIfMatch } from '../versioned/expected-version'
import { getAgentRow, getConfig, loadAgent } from './find'
import { type PresentedAgent, presentAgent } from './present'
import type { AgentConfig } from './schema'
import { archived } from './update'

/**
 * Makes the latest saved version the published one. Publishing again without a change is a no-op.
 * @throws AppError AGENT_NOT_FOUND, CONFLICT when archived, VERSION_CONFLICT, VALIDATION_FAILED, INVALID_INPUT
 */
export async function publishAgent(
  ctx: ServiceContext,
  id: string,
  options: { ifMatch?: string | null } = {},
): Promise<PresentedAgent> {
  authorize(ctx, 'agent:publish')
  const ifMatch = readIfMatch(options.ifMatch)
  return withTransaction(ctx, async (tx) => {
    const row = await getAgentRow(tx, id, { lock: true })
    if (row.status === 'archived') throw archived()
    expectVersion(row, { ifMatch })
    const config = await getConfig(tx, row)
    if (row.status === 'published' && row.publishedVersion === row.version) return presentAgent(row, config)
    const details = await problems(tx, id, config)
    if (details.length > 0)
      throw new AppError('VALIDATION_FAILED', { message: 'Invalid input: the agent has problems', details })
    const live = goneLive(tx, row.version)
    const [published] = await tx.db
      .update(agents)
      .set(live)
      .where(and(eq(agents.tenantId, tx.tenantId), eq(agents.id, id)))
      .returning()
    await tx.db
      .update(agentVersions)
      .set({ publishedAt: live.publishedAt })
      .where(
        and(
          eq(agentVersions.tenantId, tx.tenantId),
          eq(agentVersions.agentId, id),
          eq(agentVersions.version, row.version),
        ),
      )
    if (!published) throw new ImpossibleState('agent-publish', 'a locked row was not updated')
    return presentAgent(published, config)
  })
}

/** Tools and agents that are named but not there. */
async function problems(ctx: ServiceContext, id: string, config: AgentConfig): Promise<ErrorDetail[]> {
  const found: ErrorDetail[] = []
  const check = async (path: string, what: string, look: Promise<unknown>) => {
    try {
      await look
    } catch (err) {
      if (!(err instanceof AppError && err.status === 404)) throw err
      found.push({ path, code: what.startsWith('Tool') ? 'TOOL_NOT_FOUND' : 'AGENT_NOT_FOUND', message: what })
    }
  }
  for (const [index, { toolId, version }] of config.tools.entries())
    await check(
      `tools[${index}]`,
      `Tool not found: ${toolId} version ${version}.`,
      getToolVersion(ctx, toolId, version),
    )
  for (const [index, { agentId, version }] of config.handoffs.entries()) {
    const path = `handoffs[${index}]`
    if (agentId === id) found.push({ path, code: 'AGENT_NOT_FOUND', message: 'An agent cannot hand over to itself.' })
    else await check(path, `Agent not found: ${agentId} version ${version}.`, loadAgent(ctx, agentId, version))
  }
  return found
}
