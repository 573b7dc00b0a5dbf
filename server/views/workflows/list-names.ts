import { asc, eq, sql } from 'drizzle-orm'
import { workflows } from '@/db/schema/workflows'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { tenantMasker } from '../../vault/masker'
import { LIST_CAP } from '../../versioned/columns'

/** Ids and names of the tenant's workflows, archived ones included, sorted by name: for filters of runs and tasks. */
export async function listWorkflowNames(ctx: ServiceContext): Promise<{ id: string; name: string }[]> {
  authorize(ctx, 'workflow:read')
  const select = ctx.db
    .select({ id: workflows.id, name: workflows.name })
    .from(workflows)
    .where(eq(workflows.tenantId, ctx.tenantId))
    .orderBy(asc(sql`lower(${workflows.name})`), asc(workflows.id))
    .limit(LIST_CAP)
  const [rows, masker] = await Promise.all([select, tenantMasker(ctx)])
  return rows.map(({ id, name }) => ({ id, name: masker.text(name) }))
}
