import { and, eq } from 'drizzle-orm'
import { pauses } from '@/db/schema/runs'
import type { WalkRef } from './receipt'

/** Matches a pause of a run. */
export function pauseIs(ref: Pick<WalkRef, 'tenantId' | 'runId'>, pauseId: string) {
  return and(eq(pauses.tenantId, ref.tenantId), eq(pauses.runId, ref.runId), eq(pauses.id, pauseId))
}
