import type { ServiceContext } from '../../context'
import { StepFailure } from '../../errors'
import { idempotencyKeyOf } from '../../run-store/names'
import type { Computing } from './recorded'
import { Undetermined } from './unknown'

/** Of one script, with its wait for a worker. */
const MAX_MS = 5_000

/** Computes steps of a walk that only compute. They reach nothing outside. */
export function computingIn(ctx: ServiceContext, caller: AbortSignal): Computing {
  return async ({ state, type, at }, config) => {
    const undetermined = new Undetermined({ place: { branch: state.ref.branch, ...at }, why: 'script' })
    if (type.mode !== 'effect') throw undetermined
    const signal = AbortSignal.any([caller, AbortSignal.timeout(MAX_MS)])
    const idempotencyKey = idempotencyKeyOf(state.ref, at)
    try {
      const done = await type.run({ config, ctx, data: state.data, signal, idempotencyKey, inline: true })
      if ('part' in done) throw undetermined
      return { output: done.output, ...(done.delta ? { delta: done.delta } : {}) }
    } catch (err) {
      if (err instanceof StepFailure) return { failed: { code: err.code, message: err.message } }
      caller.throwIfAborted()
      // Such as a script that takes too long, or for which no worker was free.
      throw undetermined
    }
  }
}
