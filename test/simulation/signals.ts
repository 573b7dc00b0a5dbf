import type { Visit, WalkClaim } from '@/server/run-store/names'
import { currentActor, type Stoppable } from './actor'

/**
 * Replaces the signal of `interpreter/running.ts`, which fires whenever this process receives a notification. Here the
 * simulation decides when a process receives one: see `hears` in `simulate.ts`.
 */
export function abortWhenStopped({
  state: { ref },
  at,
  attempt,
}: {
  state: { ref: WalkClaim }
  at: Visit
  attempt: number
}): { signal: AbortSignal; release(): void } {
  const controller = new AbortController()
  const { runId, branch } = ref
  const work: Stoppable = { runId, branch, ...at, attempt, controller }
  const actor = currentActor()
  actor?.stoppable.add(work)
  return { signal: controller.signal, release: () => void actor?.stoppable.delete(work) }
}
