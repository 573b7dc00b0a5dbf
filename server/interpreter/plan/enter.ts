import { type ServiceContext, systemContext } from '../../context'
import type { StepConfig } from '../../definition/step-config'
import { ImpossibleState } from '../../errors'
import { idempotencyKeyOf } from '../../run-store/names'
import type { RunRow } from '../../run-store/walk-data'
import type { PartEnd, StepOutput } from '../../steps/define-step'
import { observe } from '../../telemetry/measures'
import { AttemptLog } from '../flow/attempt-log'
import { enterResolved, failureAtEntry, requireVisit, yielded } from '../flow/step'
import type { EarlyWork, Entered, Entry } from '../flow/types'
import { resolveConfig } from './outputs'

/**
 * Resolves a step's configuration, and computes the step if it needs nothing else.
 * @param inlineUntil how long effects may run inline, in the time of `performance.now`
 */
export async function enter(ctx: ServiceContext, entry: Entry, inlineUntil: number): Promise<Entered> {
  try {
    requireVisit(entry)
    const entered = enterResolved(entry, await resolveConfig(ctx, entry.state, entry.step, entry.type))
    if (!('begins' in entered) || entered.asked) return entered
    const ran = await runInline(ctx, entry, entered.begins, inlineUntil - performance.now())
    if (!ran) return entered
    if ('early' in ran) return { ...entered, ...ran }
    return { ...yielded(entry, entered.begins, ran.done), ...ran.log.columns }
  } catch (err) {
    return { failure: failureAtEntry(err) }
  }
}

/**
 * Runs an effect that only computes, without recording it as begun. After `leftMs` it continues while the step is
 * recorded as begun. Null for any other effect, and for one that fails: it then begins like any other, with attempts.
 */
async function runInline(
  ctx: ServiceContext,
  { state, type, at }: Entry,
  config: StepConfig,
  leftMs: number,
): Promise<{ done: StepOutput; log: AttemptLog } | { early: EarlyWork } | null> {
  if (leftMs <= 0 || type.mode !== 'effect' || !type.runsInline?.(config, ctx.tenantId)) return null
  const began = performance.now()
  const ender = new AbortController()
  const idempotencyKey = idempotencyKeyOf(state.ref, at)
  const log = new AttemptLog()
  const call = {
    config,
    ctx: contextOf(ctx, state.run),
    data: state.data,
    signal: ender.signal,
    idempotencyKey,
    log: log.add,
    inline: true,
  }
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, Math.min(leftMs, config.timeoutMs ?? leftMs), null)
  })
  try {
    const output = type.run(call).then(whole)
    const done = await Promise.race([output, late])
    if (done) {
      observe('millrace_step_duration_seconds', { type: type.type, result: 'ok' }, (performance.now() - began) / 1_000)
      return { done, log }
    }
    output.catch(() => {})
    return { early: { output, log, stop: () => ender.abort() } }
  } catch {
    return null
  } finally {
    clearTimeout(timer)
  }
}

/** Inline work has no parts. */
function whole(result: StepOutput | PartEnd): StepOutput {
  if ('part' in result) throw new ImpossibleState('inline-part', 'inline work ended in the middle')
  return result
}

/** The context of a run's steps: its tenant, with the run as the caller. */
export function contextOf(
  ctx: ServiceContext,
  { context, startedBy, startedVia }: Pick<RunRow, 'context' | 'startedBy' | 'startedVia'>,
) {
  return systemContext({ ...ctx, trusted: context }, startedBy, startedVia)
}
