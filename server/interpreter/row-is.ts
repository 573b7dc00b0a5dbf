import { and, eq, sql } from 'drizzle-orm'
import { pauses, stepRecords, walks } from '@/db/schema/runs'
import type { WalkRef } from './receipt'

/** Matches a pause of a run. */
export function pauseIs(ref: Pick<WalkRef, 'tenantId' | 'runId'>, pauseId: string) {
  return and(eq(pauses.tenantId, ref.tenantId), eq(pauses.runId, ref.runId), eq(pauses.id, pauseId))
}

/** Matches the record of the visit that a pause belongs to. */
export const recordOfPause = and(
  eq(stepRecords.tenantId, pauses.tenantId),
  eq(stepRecords.runId, pauses.runId),
  eq(stepRecords.branch, pauses.branch),
  eq(stepRecords.stepId, pauses.stepId),
  eq(stepRecords.visit, pauses.visit),
)

/** Matches a walk, whatever its epoch and segment. */
export function walkIs({ tenantId, runId, branch }: Pick<WalkRef, 'tenantId' | 'runId' | 'branch'>) {
  return and(eq(walks.tenantId, tenantId), eq(walks.runId, runId), eq(walks.branch, branch))
}

/** Whether an open pause of a run waits for a person, so that the run is paused. */
export function asksSomebody(ref: Pick<WalkRef, 'tenantId' | 'runId'>) {
  return sql`exists (
    select from ${pauses} p
    where p.tenant_id = ${ref.tenantId} and p.run_id = ${ref.runId} and p.answered_at is null and p.signal is not null)`
}
