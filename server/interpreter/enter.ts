import { type ServiceContext, systemContext } from '../context'
import type { StepConfig } from '../definition/step-config'
import type { StepOutput } from '../steps/define-step'
import { idempotencyKeyOf } from './receipt'
import { resolveConfig } from './resolve'
import { type Entry, failureAtEntry, requireVisit, type Taken, takeStep, yielded } from './step'

/** Resolves a step's configuration, and computes the step if it needs nothing else. */
export async function take(ctx: ServiceContext, entry: Entry, rides: boolean): Promise<Taken> {
  try {
    requireVisit(entry)
    const taken = takeStep(entry, await resolveConfig(ctx, entry.state, entry.step, entry.type))
    if (!rides || !('begins' in taken) || taken.asked) return taken
    const ridden = await ride(ctx, entry, taken.begins)
    return ridden ? yielded(entry, taken.begins, ridden) : taken
  } catch (err) {
    return { failure: failureAtEntry(err) }
  }
}

/** What an effect that rides yields. Null for any other, and for one that fails: it begins like any other, with attempts. */
async function ride(ctx: ServiceContext, { state, type, at }: Entry, config: StepConfig): Promise<StepOutput | null> {
  if (type.mode !== 'effect' || !type.rides?.(config)) return null
  const { signal } = new AbortController()
  const idempotencyKey = idempotencyKeyOf(state.ref, at)
  const runContext = systemContext({ ...ctx, trusted: state.run.context }, state.run.startedBy)
  return type.run({ config, ctx: runContext, data: state.data, signal, idempotencyKey }).catch(() => null)
}
