import { and, asc, eq } from 'drizzle-orm'
import type { Db } from '@/db/index'
import { members } from '@/db/schema/members'
import { runs } from '@/db/schema/runs'
import { tenants } from '@/db/schema/tenants'
import { workflows } from '@/db/schema/workflows'
import { isId } from '../ids'

/** The slug of the tenant with this run or workflow, among the person's tenants; null for any other id. */
export async function locate(db: Db, userId: string, what: 'run' | 'workflow', id: string): Promise<string | null> {
  if (!isId(id)) return null
  const table = what === 'run' ? runs : workflows
  const [row] = await db
    .select({ slug: tenants.slug })
    .from(members)
    .innerJoin(tenants, eq(tenants.id, members.tenantId))
    .innerJoin(table, and(eq(table.tenantId, members.tenantId), eq(table.id, id)))
    .where(eq(members.userId, userId))
    // The samples have the same ids everywhere; then take the tenant that is first in every list.
    .orderBy(asc(tenants.name), asc(tenants.id))
    .limit(1)
  return row?.slug ?? null
}
