import type { PauseAnswer } from '../../definition/run'

/** A task may also end without an answer: its time is up, or its run is stopped. */
export type Ended = 'answered' | 'expired' | 'withdrawn'

/** How a task that is closed ended. */
export function howEnded(answer: PauseAnswer | null): Ended {
  if (answer === null) return 'withdrawn'
  return 'due' in answer ? 'expired' : 'answered'
}
