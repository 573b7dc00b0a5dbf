import { applyPlan } from './apply'
import { buildCall, classify, type Outcome, plainError } from './call'
import { dropJob, markStarted } from './claim'
import type { Claim, EngineContext } from './context'
import { fireCron } from './crontab'
import type { HandlerAnswer, HandlerCall } from './index'
import { tellEnd } from './lifecycle'
import { failing, type Plan, planOutcome } from './plan'
import { MOST_STEPS } from './protocol'
import type { Execute } from './worker'

/** Claims of one job without any progress between them: a call that kills its process must not do so for ever. */

export interface CallOptions {
  handler: (call: HandlerCall, signal: AbortSignal) => Promise<HandlerAnswer>
  appUrl: string
  signingKey: string | undefined
  mostDeliveries: number
}

/** Does the work of a claim, whatever it is. */
export function createExecute(options: CallOptions): Execute {
  return async (ctx, claim, signal, stopping) => {
    switch (claim.kind) {
      case 'cron':
        await fireCron(ctx, claim)
        return undefined
      case 'end':
        await persist(ctx, signal, () => tellEnd(ctx, claim))
        return undefined
      default:
    }
    if (!claim.running) {
      // Cannot happen: a run takes its jobs with it when it ends. Should it, nothing of the run may begin any more.
      ctx.log.error({ runId: claim.runId, jobId: claim.jobId }, 'a job outlived its run')
      await dropJob(ctx, claim)
      return undefined
    }
    switch (claim.kind) {
      case 'sleep': {
        const steps = [{ id: claim.stepId ?? '', value: 'null' }]
        const plan: Plan = {
          kind: 'move',
          steps,
          done: 1,
          race: false,
          waits: [],
          replacing: [],
          jobs: [],
          invocations: [],
        }
        await persist(ctx, signal, () => applyPlan(ctx, claim, plan, stopping()))
        return undefined
      }
      default:
        return await callFunction(ctx, claim, options, signal, stopping)
    }
  }
}

async function callFunction(
  ctx: EngineContext,
  claim: Claim,
  options: CallOptions,
  signal: AbortSignal,
  stopping: () => boolean,
): Promise<Claim | undefined> {
  const plan = await decide(ctx, claim, options, signal)
  try {
    return await persist(ctx, signal, () => applyPlan(ctx, claim, plan, stopping()))
  } catch (error) {
    if (!isRefusal(error)) throw error
    const signalTaken = error.constraint_name === 'waits_signal_idx'
    const message = signalTaken
      ? 'Another run already waits for this signal'
      : `The results of the function could not be kept: ${error.message}`
    ctx.log.error({ runId: claim.runId, error }, 'a run fails because its results are refused')
    const failure = failing(message)
    return await persist(ctx, signal, () => applyPlan(ctx, claim, failure, stopping()))
  }
}

async function decide(ctx: EngineContext, claim: Claim, options: CallOptions, signal: AbortSignal): Promise<Plan> {
  const spec = (await ctx.specs()).get(claim.functionId)
  if (!spec) return { kind: 'drop' }
  if (claim.deliveries > options.mostDeliveries) {
    return failing(`worker lost: the process ended ${options.mostDeliveries} times in this call`, 'WorkerLost')
  }
  if (claim.memo.size >= MOST_STEPS) return failing(`More than ${MOST_STEPS} steps`, 'TooManySteps')
  const timed = spec.startWithinMs !== undefined || spec.finishWithinMs !== undefined
  if (timed && !claim.started) {
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
    const message = error instanceof Error ? error.message : String(error)
    ctx.log.warn({ runId: claim.runId, error }, 'a call did not come back')
    outcome = { kind: 'failed', error: plainError(message), final: false, retryAfterMs: undefined }
  }
  return planOutcome(claim, spec, outcome, ctx.retryDelayMs)
}

interface Refusal extends Error {
  code: string
  constraint_name?: string
}

/** Postgres looked at the data and will never take it; every other failure may pass. */
function isRefusal(error: unknown): error is Refusal {
  if (!(error instanceof Error) || !('code' in error)) return false
  return /^(22|23|54)[0-9A-Z]{3}$/.test(String(error.code))
}

/** Tries until the database answers: what a call came to must not be lost to an outage. The fence makes this harmless. */
async function persist<T>(ctx: EngineContext, signal: AbortSignal, write: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await write()
    } catch (error) {
      if (isRefusal(error) || signal.aborted) throw error
      const pause = Math.min(2000, 50 * 2 ** failures)
      ctx.log.warn({ error, failures }, 'a result could not be written yet')
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
}
