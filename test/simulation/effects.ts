import { StepFailure, TransientError } from '@/server/errors'
import type { Effect } from '../support/effects'
import { type Actor, currentActor } from './actor'

/** The outside world, which sees each effect and decides how it ends. */
export interface Outside {
  seen: (Effect & { by: Actor })[]
  /** Whether this one fails for now. */
  fails(nth: number): boolean
}

let outside: Outside | null = null

export function setOutside(next: Outside | null): void {
  outside = next
}

/** Graphs send effects that fail for good here; see `definitionOf`. */
export const REFUSING = 'http://127.0.0.1:1/refuses'
export const ACCEPTING = 'http://127.0.0.1:1/accepts'

/** Replaces the work of `test-effect`. It counts as seen at its process's last read. */
export async function effect({
  config,
  idempotencyKey: key,
}: {
  config: { url?: string; body: Record<string, unknown> }
  idempotencyKey: string
}) {
  const actor = currentActor()
  if (!actor || !outside) throw new Error('an effect outside the simulation')
  const nth = outside.seen.filter((other) => other.key === key).length + 1
  outside.seen.push({ key, path: '/', body: config.body, at: actor.asked, by: actor })
  const fails = outside.fails(nth)
  await actor.gate()
  if (fails) throw new TransientError('the effect server is not there')
  if (config.url === REFUSING) throw new StepFailure('HTTP_ERROR', 'the effect server refuses')
  return { output: config.body }
}
