import { asc, eq, sql } from 'drizzle-orm'
import { workflows } from '@/db/schema/workflows'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { LIST_CAP } from '../../versioned/columns'

/** Ids and names of the tenant's workflows, also of archived ones, by name: what one is chosen from. */
export async function listWorkflowNames(ctx: ServiceContext): Promise<{ id: string; name: string }[]> {
  authorize(ctx, 'workflow:read')
  return ctx.db
    .select({ id: workflows.id, name: workflows.name })
    .from(workflows)
    .where(eq(workflows.tenantId, ctx.tenantId))
    .orderBy(asc(sql`lower(${workflows.name})`), asc(workflows.id))
    .limit(LIST_CAP)
}
