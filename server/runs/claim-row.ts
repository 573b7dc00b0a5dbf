import { and, eq, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { members } from '@/db/schema/members'
import { taskClaims } from '@/db/schema/tasks'
import { may } from '../auth/policy'
import { ROLES } from '../roles'

/** The condition that matches the claim of one task, whether or not it stands. */
export function claimIs({ tenantId, runId, pauseId }: { tenantId: string; runId: string; pauseId: string }) {
  return and(eq(taskClaims.tenantId, tenantId), eq(taskClaims.runId, runId), eq(taskClaims.pauseId, pauseId))
}

/** The roles that may answer tasks, for `in (…)`. */
export const ANSWERING = sql.join(
  ROLES.filter((role) => may(role, 'task:answer')).map((role) => sql`${role}`),
  sql`, `,
)

/** Whether the claimer is still a member who may answer tasks. Otherwise the claim is void. */
export function claimStands({ tenantId, person }: { tenantId: SQLWrapper; person: SQLWrapper }): SQL {
  return sql`exists (select from ${members} m where m.tenant_id = ${tenantId} and m.user_id = ${person}
    and m.role in (${ANSWERING}))`
}
