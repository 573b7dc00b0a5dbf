import { asc, eq, sql } from 'drizzle-orm'
import { workflows } from '@/db/schema/workflows'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { tenantMasker } from '../../vault/masker'
import { LIST_CAP } from '../../versioned/columns'
import { PUBLISHED_NUMBER } from './numbers'

export interface WorkflowName {
  id: string
  name: string
  /** Of the version that a start runs; null if the workflow was never published or is archived. */
  publishedNumber: number | null
  archived: boolean
}

/** Ids and names of the tenant's workflows, archived ones included, sorted by name: for filters of runs and tasks. */
export async function listWorkflowNames(ctx: ServiceContext): Promise<WorkflowName[]> {
  authorize(ctx, 'workflow:read')
  const select = ctx.db
    .select({
      id: workflows.id,
      name: workflows.name,
      publishedNumber: PUBLISHED_NUMBER,
      archivedAt: workflows.archivedAt,
    })
    .from(workflows)
    .where(eq(workflows.tenantId, ctx.tenantId))
    .orderBy(asc(sql`lower(${workflows.name})`), asc(workflows.id))
    .limit(LIST_CAP)
  const [rows, masker] = await Promise.all([select, tenantMasker(ctx)])
  return rows.map(({ id, name, publishedNumber, archivedAt }) => ({
    id,
    name: masker.text(name),
    publishedNumber: archivedAt === null ? publishedNumber : null,
    archived: archivedAt !== null,
  }))
}
