import { and, eq } from 'drizzle-orm'
import { heldAnswers } from '@/db/schema/tasks'

/** Identifies a held answer: each person holds at most one at a pause. */
export interface HeldKey {
  tenantId: string
  runId: string
  pauseId: string
  person: string
}

export function heldIs({ tenantId, runId, pauseId, person }: HeldKey) {
  return and(
    eq(heldAnswers.tenantId, tenantId),
    eq(heldAnswers.runId, runId),
    eq(heldAnswers.pauseId, pauseId),
    eq(heldAnswers.person, person),
  )
}
