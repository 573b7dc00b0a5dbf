import type { Visit, WalkClaim } from '@/server/run-store/names'
import { currentActor, type Stoppable } from './actor'

/**
 * Stands in for the signal of `interpreter/running.ts`, which fires whenever this process hears something. Here the
 * simulation decides when a process hears: see `hears` in `simulate.ts`.
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
