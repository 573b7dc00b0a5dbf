import type { PauseAnswer } from '../../definition/run'
import type { Held } from '../../run-store/held'
import { changeHeld } from './held'
import { STORE_ANSWER, STORED } from './parts'
import { settleStatus } from './settle-status'

/** The person who answered, and the API key or the task link they used. */
export interface Answerer {
  id: string
  via: string | null
  /** When, if not now. */
  at?: Date
}

/**
 * Writes the answer to an open pause. The run then is no longer paused, unless another pause is open.
 * @returns the run's status; null if the pause is no longer open
 */
export async function storeAnswer(
  tx: Held,
  ref: { tenantId: string; runId: string },
  pauseId: string,
  answer: PauseAnswer,
  { eventId, by = { id: tx.actor.id, via: null } }: { eventId?: string; by?: Answerer | undefined } = {},
): Promise<'paused' | 'running' | null> {
  const row = {
    answered_pause: pauseId,
    answer,
    answered_at: by.at ?? tx.now(),
    answered_by: by.id,
    answered_via: by.via,
    answered_with: eventId,
  }
  const written = await changeHeld(tx, ref, { parts: [STORE_ANSWER], outputs: [STORED], row })
  return written?.stored ? settleStatus(tx, ref) : null
}
