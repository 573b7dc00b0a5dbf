import { type ServiceContext, systemContext } from '../context'
import { Deadline } from '../deadline'
import type { StepConfig } from '../definition/step-config'
import { observe } from '../measures'
import type { StepOutput } from '../steps/define-step'
import { idempotencyKeyOf } from './receipt'
import { resolveConfig } from './resolve'
import { type Entered, type Entry, enterResolved, failureAtEntry, requireVisit, yielded } from './step'

/**
 * Resolves a step's configuration, and computes the step if it needs nothing else.
 * @param inlineUntil how long effects may run inline, in the time of `performance.now`
 */
export async function enter(ctx: ServiceContext, entry: Entry, inlineUntil: number): Promise<Entered> {
  try {
    requireVisit(entry)
    const entered = enterResolved(entry, await resolveConfig(ctx, entry.state, entry.step, entry.type))
    if (!('begins' in entered) || entered.asked) return entered
    const done = await runInline(ctx, entry, entered.begins, inlineUntil - performance.now())
    return done ? yielded(entry, entered.begins, done) : entered
  } catch (err) {
    return { failure: failureAtEntry(err) }
  }
}

/**
 * Runs an effect that only computes, without recording it as begun. Null for any other effect, for one that fails, and for
 * one that takes longer than `leftMs`: it then begins like any other, with attempts.
 */
async function runInline(
  ctx: ServiceContext,
  { state, type, at }: Entry,
  config: StepConfig,
  leftMs: number,
): Promise<StepOutput | null> {
  if (leftMs <= 0 || type.mode !== 'effect' || !type.runsInline?.(config, ctx.tenantId)) return null
  const began = performance.now()
  const deadline = new Deadline(undefined, leftMs, () => new Error('The step took too long to run inline'))
  const idempotencyKey = idempotencyKeyOf(state.ref, at)
  const runContext = systemContext({ ...ctx, trusted: state.run.context }, state.run.startedBy)
  const call = { config, ctx: runContext, data: state.data, signal: deadline.signal, idempotencyKey, inline: true }
  try {
    const output = await deadline.race(type.run(call))
    observe('millrace_step_duration_seconds', { type: type.type, result: 'ok' }, (performance.now() - began) / 1_000)
    return output
  } catch {
    return null
  } finally {
    deadline.release()
  }
}
