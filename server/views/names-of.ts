import { and, eq, inArray } from 'drizzle-orm'
import { agents } from '@/db/schema/agents'
import { tools } from '@/db/schema/tools'
import { workflows } from '@/db/schema/workflows'
import type { ServiceContext } from '../context'
import type { Pin } from '../definition/pins'

const TABLES = { tool: tools, agent: agents, workflow: workflows }

/** The names of these tools, agents and workflows by `kind:id`, without deleted ones. */
export async function namesOf(ctx: ServiceContext, uses: Pick<Pin, 'kind' | 'id'>[]): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  for (const kind of ['tool', 'agent', 'workflow'] as const) {
    const ids = uses.filter((use) => use.kind === kind).map(({ id }) => id)
    if (ids.length === 0) continue
    const table = TABLES[kind]
    const rows = await ctx.db
      .select({ id: table.id, name: table.name })
      .from(table)
      .where(and(eq(table.tenantId, ctx.tenantId), inArray(table.id, ids)))
    for (const { id, name } of rows) names.set(`${kind}:${id}`, name)
  }
  return names
}
