import { applyPlan } from './apply'
import { buildCall, classify, type Outcome, plainError } from './call'
import type { Execute } from './calls'
import type { Claim, EngineContext } from './context'
import { fireCron } from './crontab'
import { failureKindOf, messageOf, violates } from './errors'
import { callFresh } from './fresh'
import { deliverLater, dropJob, markStarted } from './jobs'
import { notifyRunEnded } from './lifecycle'
import { persist } from './persist'
import { failing, type Plan, planOutcome } from './plan'
import { MAX_STEPS } from './protocol'
import { writeRun } from './queue'
import { isTimed } from './registry'
import { setAside } from './set-aside'
import { MAX_DELIVERIES } from './settings'
import type { Handler, NativeHandler } from './types'

export interface CallOptions {
  handler: Handler
  handlers: ReadonlyMap<string, NativeHandler>
  appUrl: string
  signingKey: string | undefined
}

/** Executes a claim of any kind. A claim it cannot process is delivered again, up to a limit. */
export function createExecute(options: CallOptions): Execute {
  return async (ctx, claim, signal, stopping) => {
    try {
      return await handleClaim(ctx, claim, options, signal, stopping)
    } catch (error) {
      if (signal.aborted) return undefined
      if (failureKindOf(error) === 'unavailable') throw error
      const { runId, jobId, kind } = claim
      ctx.log.error({ error, runId, jobId, kind }, 'a job failed in the engine itself; it is delivered again later')
      await deliverLater(ctx, claim)
      return undefined
    }
  }
}

async function handleClaim(
  ctx: EngineContext,
  claim: Claim,
  options: CallOptions,
  signal: AbortSignal,
  stopping: () => boolean,
): Promise<Claim | undefined> {
  if (claim.deliveries >= MAX_DELIVERIES) {
    const lost = claim.withoutRow ? await persist(ctx, signal, () => writeRun(ctx, claim, [])) : claim
    if (lost) await persist(ctx, signal, () => setAside(ctx, lost))
    return undefined
  }
  if (claim.kind === 'cron') {
    await fireCron(ctx, claim)
    return undefined
  }
  if (claim.kind === 'end') {
    await persist(ctx, signal, () => notifyRunEnded(ctx, claim))
    return undefined
  }
  if (!claim.running) {
    // Should never happen: a run's jobs are deleted when it ends. If it does, start nothing more of the run.
    ctx.log.error({ runId: claim.runId, jobId: claim.jobId }, 'a job outlived its run')
    await dropJob(ctx, claim)
    return undefined
  }
  if (claim.kind === 'sleep') {
    await persist(ctx, signal, () => applyPlan(ctx, claim, afterSleep(claim), stopping()))
    return undefined
  }
  const next = await callFresh(ctx, claim, options.handlers, signal, stopping)
  if (!next) return undefined
  const plan = next.plan ?? (await decide(ctx, next.claim, options, signal))
  return await applyResult(ctx, next.claim, plan, signal, stopping)
}

function afterSleep(claim: Claim): Plan {
  const steps = [{ id: claim.stepId ?? '', value: 'null' }]
  return { kind: 'move', steps, done: 1, race: false, waits: [], replacing: [], jobs: [], invocations: [] }
}

/** Writes the outcome of a call. A run whose results cannot be stored fails with the reason. */
async function applyResult(
  ctx: EngineContext,
  claim: Claim,
  plan: Plan,
  signal: AbortSignal,
  stopping: () => boolean,
): Promise<Claim | undefined> {
  try {
    return await persist(ctx, signal, () => applyPlan(ctx, claim, plan, stopping()))
  } catch (error) {
    if (signal.aborted || failureKindOf(error) === 'unavailable') throw error
    const message = violates(error, 'waits_signal_idx')
      ? 'Another run already waits for this signal'
      : `The results of the function could not be kept: ${messageOf(error)}`
    ctx.log.error({ runId: claim.runId, error }, 'a run fails because its results could not be kept')
    return await persist(ctx, signal, () => applyPlan(ctx, claim, failing(message), stopping()))
  }
}

async function decide(ctx: EngineContext, claim: Claim, options: CallOptions, signal: AbortSignal): Promise<Plan> {
  const spec = (await ctx.specs()).get(claim.functionId)
  if (!spec) return { kind: 'drop' }
  if (claim.memo.size >= MAX_STEPS) return failing(`More than ${MAX_STEPS} steps`, 'TooManySteps')
  if (isTimed(spec) && !claim.started) {
    await persist(ctx, signal, () => markStarted(ctx, claim.runId, spec.finishWithinMs))
    claim.started = true
  }
  const state = {
    ...claim,
    stepId: claim.kind === 'step' ? (claim.stepId ?? undefined) : undefined,
    maxAttempts: spec.maxAttempts,
    planOnly: claim.pending > 0,
  }
  let outcome: Outcome
  try {
    const call = buildCall(state, options.appUrl, options.signingKey, ctx.now().getTime())
    outcome = classify(await options.handler(call, signal), ctx.now().getTime())
  } catch (error) {
    if (signal.aborted) return { kind: 'drop' }
    ctx.log.warn({ runId: claim.runId, error }, 'a call did not come back')
    outcome = { kind: 'failed', error: plainError(messageOf(error)), final: false, retryAfterMs: undefined }
  }
  return planOutcome(claim, spec, outcome, ctx)
}
