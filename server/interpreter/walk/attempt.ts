import { Deadline } from '@/lib/deadline'
import type { ServiceContext } from '../../context'
import type { StepUsage } from '../../definition/agent'
import { isJsonObject } from '../../definition/json'
import { env } from '../../env'
import { StepFailure, TransientError } from '../../errors'
import { idempotencyKeyOf } from '../../run-store/names'
import { DEFAULT_TIMEOUT_MS, type PartEnd, type StepOutput } from '../../steps/define-step'
import { RunStopped } from '../flow/failure'
import type { EarlyWork } from '../flow/types'
import { endWhenStopped } from '../notice/running'
import { contextOf } from '../plan/enter'
import type { StartedAttempt } from '../plan/types'
import { cleanupTimeLeft } from '../stop/cancel'
import { checkBeforeEffect, isStillCurrent } from './may-begin'
import { turnAttempt } from './turn-attempt'

/**
 * Runs an attempt of an effect step, outside any transaction. Ends when it times out or its run is stopped, even if the
 * step ignores its signal. Does not begin if the run was stopped in the meantime. If this process may have missed that,
 * it reads the database first.
 * @param stopping whether this process is stopping
 * @throws the step's own errors, TransientError when it was too slow, RunStopped, TakenOver
 */
export async function work(
  ctx: ServiceContext,
  begun: StartedAttempt,
  stopping: () => boolean,
): Promise<StepOutput | PartEnd> {
  const { state, at, config } = begun
  const limitMs = Math.min(config.timeoutMs ?? DEFAULT_TIMEOUT_MS, env().longestStepMs)
  const timeoutMs = Math.min(timeLeft(begun), limitMs)
  const left = await cleanupTimeLeft(ctx, state.ref)
  if (left <= 0) throw cleanupTooSlow(null)
  let soFar: () => StepUsage | null = () => null
  const tooSlow = () => {
    if (left < timeoutMs) return cleanupTooSlow(soFar())
    return new TransientError(`The step did not finish within ${limitMs} ms.`, undefined, {
      usage: soFar() ?? undefined,
    })
  }
  const deadline = new Deadline(undefined, Math.min(timeoutMs, left), tooSlow)
  // From here on a notification fires the signal.
  const release = endWhenStopped(begun, (reason) => deadline.abort(reason))
  try {
    if (!isStillCurrent(begun)) await deadline.race(checkBeforeEffect(ctx, begun))
    deadline.throwIfAborted()
    const run = () =>
      begun.type.run({
        config,
        ctx: contextOf(ctx, state.run),
        data: state.data,
        ...(isJsonObject(config.$values) ? { values: config.$values } : {}),
        get signal() {
          return deadline.signal
        },
        idempotencyKey: idempotencyKeyOf(state.ref, at),
        attempt: turnAttempt(ctx, begun, stopping),
        log: begun.log.add,
        uses: (known) => {
          soFar = known
        },
        known: begun.known,
      })
    // If a step ignores its signal, nothing waits for it; its result no longer counts.
    return await deadline.race(begun.early ? goOn(begun.early, deadline.signal, run) : run())
  } catch (err) {
    // Errors that a step throws after its signal fired are only consequences; history should show the signal's reason.
    const reason: unknown = deadline.aborted ? deadline.signal.reason : err
    // All work of the run has the same reason.
    throw reason instanceof RunStopped ? new RunStopped(reason.message, soFar()) : reason
  } finally {
    if (deadline.aborted) begun.early?.stop()
    deadline.release()
    release()
  }
}

/** The time limit of an attempt without the parts of it that have ended, in milliseconds. */
function timeLeft({ config, attempts }: StartedAttempt): number {
  const before = attempts.slice(attempts.findLastIndex(({ part }) => !part) + 1)
  const spent = before.reduce((sum, { startTime, endTime }) => sum + Date.parse(endTime) - Date.parse(startTime), 0)
  return Math.max(0, (config.timeoutMs ?? DEFAULT_TIMEOUT_MS) - spent)
}

/** Work that started while its step was planned. If it could not even run, it runs now. */
async function goOn({ output, stop }: EarlyWork, signal: AbortSignal, run: () => Promise<StepOutput | PartEnd>) {
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await output
  } catch (err) {
    signal.throwIfAborted()
    if (err instanceof StepFailure || err instanceof TransientError) throw err
    return await run()
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function cleanupTooSlow(usage: StepUsage | null): StepFailure {
  const message = `The cleanup did not finish within ${env().CANCEL_CLEANUP_MS} ms.`
  return new StepFailure('CLEANUP_TIMED_OUT', message, [], usage)
}
