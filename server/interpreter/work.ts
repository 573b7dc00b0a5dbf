import { type ServiceContext, systemContext } from '../context'
import { env } from '../env'
import { StepFailure, TransientError } from '../errors'
import type { JsonObject } from '../json'
import type { StepOutput } from '../steps/define-step'
import type { Begun } from './enter'
import { idempotencyKeyOf } from './receipt'
import { abortWhenStopped } from './running'
import { cleanupTimeLeft } from './stop'

const DEFAULT_TIMEOUT_MS = 5 * 60_000

/**
 * An attempt of an effect step, outside any transaction. Ends when its time is up or its run is stopped, whether
 * the step heeds its signal or not.
 * @throws whatever the step throws, TransientError when it was too slow, RunStopped
 */
export async function work(ctx: ServiceContext, begun: Begun): Promise<StepOutput> {
  const { place, at, config } = begun
  const timeoutMs = config.timeoutMs ?? DEFAULT_TIMEOUT_MS
  const left = await cleanupTimeLeft(ctx, place.ref)
  if (left <= 0) throw cleanupTooSlow()
  const stopped = abortWhenStopped(place.ref)
  // Not `AbortSignal.any`: Node keeps a combined signal that has listeners, and all they hold, for ever.
  const ender = new AbortController()
  const { signal } = ender
  const stop = () => ender.abort(stopped.signal.reason)
  stopped.signal.addEventListener('abort', stop, { once: true })
  if (stopped.signal.aborted) stop()
  const tooSlow = () =>
    left < timeoutMs ? cleanupTooSlow() : new TransientError(`The step did not finish within ${timeoutMs} ms.`)
  const late = setTimeout(() => ender.abort(tooSlow()), Math.min(timeoutMs, left))
  const runContext = systemContext({ ...ctx, trusted: place.run.context as JsonObject | null }, place.run.startedBy)
  try {
    const output = begun.type.run({
      config: config as never,
      ctx: runContext,
      data: place.data,
      signal,
      idempotencyKey: idempotencyKeyOf(place.ref, at),
    })
    // A step that does not heed its signal is left behind; its result no longer counts.
    return await Promise.race([output, rejectWhenAborted(signal)])
  } catch (err) {
    // What a step throws when its signal fired is a consequence; the reason is what history should say.
    throw signal.aborted ? signal.reason : err
  } finally {
    clearTimeout(late)
    stopped.signal.removeEventListener('abort', stop)
    stopped.release()
  }
}

function cleanupTooSlow(): StepFailure {
  return new StepFailure('CLEANUP_TIMED_OUT', `The cleanup did not finish within ${env().CANCEL_CLEANUP_MS} ms.`)
}

function rejectWhenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
