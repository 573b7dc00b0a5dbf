import { and, eq, isNull, sql } from 'drizzle-orm'
import { pauses, runs } from '@/db/schema/runs'
import type { TransactionContext } from '../../context'
import type { PauseAnswer } from '../../definition/run'
import { asksSomebody, pauseIs } from '../../run-store/conditions'

/** Who answered, and the API key that says so, or the task link they used. */
export interface Answerer {
  id: string
  via: string | null
  /** When, if not now. */
  at?: Date
}

/**
 * Writes the answer to an open pause of a locked run. The run then is no longer paused, unless another pause is open.
 * @returns the run's status; null if the pause is not open any more
 */
export async function storeAnswer(
  tx: TransactionContext,
  ref: { tenantId: string; runId: string },
  pauseId: string,
  answer: PauseAnswer,
  { eventId, by = { id: tx.actor.id, via: null } }: { eventId?: string; by?: Answerer | undefined } = {},
): Promise<'paused' | 'running' | null> {
  const now = tx.now()
  const given = await tx.db
    .update(pauses)
    .set({
      answeredAt: by.at ?? now,
      answer,
      answeredBy: by.id,
      answeredVia: by.via,
      ...(eventId === undefined ? {} : { eventId }),
    })
    .where(and(pauseIs(ref, pauseId), isNull(pauses.answeredAt)))
    .returning({ id: pauses.id })
  if (given.length === 0) return null
  const [run] = await tx.db
    .update(runs)
    .set({ status: sql`case when ${asksSomebody(ref)} then 'paused' else 'running' end`, updatedAt: now })
    .where(and(eq(runs.tenantId, ref.tenantId), eq(runs.id, ref.runId), isNull(runs.endTime)))
    .returning({ status: runs.status })
  return run?.status === 'paused' ? 'paused' : 'running'
}
