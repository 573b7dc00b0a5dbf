import { type ServiceContext, systemContext } from '../context'
import type { StepConfig } from '../definition/step-config'
import type { StepOutput } from '../steps/define-step'
import { idempotencyKeyOf } from './receipt'
import { resolveConfig } from './resolve'
import { type Entered, type Entry, enterResolved, failureAtEntry, requireVisit, yielded } from './step'

/** Resolves a step's configuration, and computes the step if it needs nothing else. */
export async function enter(ctx: ServiceContext, entry: Entry, inline: boolean): Promise<Entered> {
  try {
    requireVisit(entry)
    const entered = enterResolved(entry, await resolveConfig(ctx, entry.state, entry.step, entry.type))
    if (!inline || !('begins' in entered) || entered.asked) return entered
    const done = await runInline(ctx, entry, entered.begins)
    return done ? yielded(entry, entered.begins, done) : entered
  } catch (err) {
    return { failure: failureAtEntry(err) }
  }
}

/**
 * Runs an effect that only computes, without recording it as begun. Null for any other effect, and for one that fails: it
 * then begins like any other, with attempts.
 */
async function runInline(
  ctx: ServiceContext,
  { state, type, at }: Entry,
  config: StepConfig,
): Promise<StepOutput | null> {
  if (type.mode !== 'effect' || !type.runsInline?.(config)) return null
  const { signal } = new AbortController()
  const idempotencyKey = idempotencyKeyOf(state.ref, at)
  const runContext = systemContext({ ...ctx, trusted: state.run.context }, state.run.startedBy)
  return type.run({ config, ctx: runContext, data: state.data, signal, idempotencyKey }).catch(() => null)
}
