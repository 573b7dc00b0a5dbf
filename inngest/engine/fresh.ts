import type { Claim, EngineContext } from './context'
import { finishedIsHeard } from './finish'
import { callNatively } from './native'
import { persist } from './persist'
import { type Plan, planOutcome } from './plan'
import type { StepResult } from './protocol'
import { writeRun } from './queue'
import { isTimed } from './registry'
import type { NativeHandler } from './types'

/** How a claim continues: with a plan to write or, without one, with a call by the SDK. */
export interface Next {
  claim: Claim
  plan: Plan | null
}

/** Whether nothing of the run is stored yet, so that its function may be called without the SDK. */
function isFresh({ kind, memo, pending, attempt, deliveries }: Claim): boolean {
  return kind === 'run' && memo.size === 0 && pending === 0 && attempt === 0 && deliveries === 0
}

/**
 * Calls the function of a fresh run natively if possible, and prepares any other run for the SDK. A queued run gets its
 * row as soon as more than its end must be stored.
 * @returns undefined if nothing is left to do, or the claim is stale
 */
export async function callFresh(
  ctx: EngineContext,
  claim: Claim,
  handlers: ReadonlyMap<string, NativeHandler>,
  signal: AbortSignal,
  stopping: () => boolean,
): Promise<Next | undefined> {
  const handler = handlers.get(claim.functionId)
  const spec = (await ctx.specs()).get(claim.functionId)
  const { older } = ctx.scheduler
  if (!handler || !spec || isTimed(spec) || older || !isFresh(claim)) return await rowFor(ctx, claim, null, signal)

  const outcome = await callNatively(handler, claim, { signal, stopping, now: ctx.now })
  if (outcome.kind === 'stale') return undefined
  if (outcome.kind !== 'back') {
    if (claim.withoutRow && outcome.kind === 'returned' && !(await finishedIsHeard(ctx))) {
      ctx.scheduler.finished(claim)
      return undefined
    }
    return await rowFor(ctx, claim, planOutcome(claim, spec, outcome, ctx), signal)
  }
  const { steps } = outcome
  // A stopping process releases the claim unchanged.
  if (stopping() || (!claim.withoutRow && steps.length > 0))
    return await rowFor(ctx, claim, { kind: 'again', steps }, signal)
  return await rowFor(ctx, claim, null, signal, steps)
}

/** @param steps results to store with the row of a queued run */
async function rowFor(
  ctx: EngineContext,
  claim: Claim,
  plan: Plan | null,
  signal: AbortSignal,
  steps: readonly StepResult[] = [],
): Promise<Next | undefined> {
  if (!claim.withoutRow) return { claim, plan }
  const written = await persist(ctx, signal, () => writeRun(ctx, claim, steps))
  return written && { claim: written, plan }
}
