import { and, eq, inArray, sql } from 'drizzle-orm'
import { agents, agentVersions } from '@/db/schema/agents'
import { listAgents } from '../../agents/lifecycle'
import type { ServiceContext } from '../../context'
import { ImpossibleState } from '../../errors'

/**
 * The list of agents with a short summary of each.
 * @throws AppError INVALID_INPUT
 */
export async function browseAgents(ctx: ServiceContext, input: unknown) {
  const page = await listAgents(ctx, input)
  const ids = page.items.map(({ id }) => id)
  const config = agentVersions.config
  const rows =
    ids.length === 0
      ? []
      : await ctx.db
          .select({
            id: agents.id,
            provider: sql<string>`${config}->'model'->>'provider'`,
            modelId: sql<string>`${config}->'model'->>'modelId'`,
            structured: sql<boolean>`json_typeof(${config}->'outputSchema') = 'object'`,
            supervisor: sql<boolean>`(${config}->>'supervisor')::boolean`,
            tools: sql<number>`json_array_length(${config}->'tools')`,
          })
          .from(agents)
          .innerJoin(
            agentVersions,
            and(
              eq(agentVersions.tenantId, agents.tenantId),
              eq(agentVersions.agentId, agents.id),
              eq(agentVersions.version, agents.version),
            ),
          )
          .where(and(eq(agents.tenantId, ctx.tenantId), inArray(agents.id, ids)))
  const found = new Map(rows.map((row) => [row.id, row]))
  const items = page.items.map((item) => {
    const made = found.get(item.id)
    if (!made) throw new ImpossibleState('agent-version', 'an agent without its latest version')
    return { ...item, ...made }
  })
  return { ...page, items }
}
