import { and, asc, eq, ne, or, sql } from 'drizzle-orm'
import { workflows, workflowVersions } from '@/db/schema/workflows'
import type { ServiceContext } from '../context'
import { nameIn, sameGroup } from '../definition/people'

/** A workflow whose draft or published version assigns tasks to a group. */
export interface NamesGroup {
  workflowId: string
  name: string
  /** The names it uses for the group. */
  as: string[]
}

/** Enough to show who is affected; nobody would read a list of hundreds. */
const MAX = 100

/**
 * The workflows that assign tasks to a group, by name; archived ones do not count.
 * @param keys the group's names, as `sameGroup` returns them
 */
export async function workflowsNaming(ctx: ServiceContext, keys: readonly string[]): Promise<NamesGroup[]> {
  const { definition, version } = workflowVersions
  const rows = await ctx.db
    .select({
      workflowId: workflows.id,
      name: workflows.name,
      // Only the assignees: a whole definition may be a megabyte.
      assignees: sql<unknown[]>`jsonb_path_query_array(${definition}::jsonb, '$.steps[*].assignees[*]')
        || jsonb_path_query_array(${definition}::jsonb, '$.steps[*].reminders.handTo[*]')`,
    })
    .from(workflows)
    .innerJoin(
      workflowVersions,
      and(
        eq(workflowVersions.tenantId, workflows.tenantId),
        eq(workflowVersions.workflowId, workflows.id),
        or(eq(version, workflows.version), eq(version, workflows.publishedVersion)),
      ),
    )
    .where(
      and(
        eq(workflows.tenantId, ctx.tenantId),
        ne(workflows.status, 'archived'),
        sql`${definition}::text like '%"group:%'`,
      ),
    )
    .orderBy(asc(workflows.name), asc(workflows.id))
  const found = new Map<string, NamesGroup>()
  for (const { assignees, ...workflow } of rows) {
    const as = assignees.flatMap((one) => nameIn(one, 'group') ?? []).filter((name) => keys.includes(sameGroup(name)))
    if (as.length === 0) continue
    const before = found.get(workflow.workflowId)?.as ?? []
    found.set(workflow.workflowId, { ...workflow, as: [...new Set([...before, ...as])] })
  }
  return [...found.values()].slice(0, MAX)
}
