import { afterCommit, type ServiceContext } from '../../context'
import type { Outgoing } from '../../outbox'
import { count } from '../../telemetry/measures'
import type { Ending } from '../flow/types'
import { noteNews } from '../notice/heard'
import { stopWorkOf } from '../notice/running'
import { dueBy, watchPause } from '../notice/timers'
import { notifyLocally } from '../notice/watch'
import type { StartedAttempt } from '../plan/types'
import type { Following, Returned } from './rows'
import { countInsert } from './statistics'

interface OfRun {
  tenantId: string
  runId: string
}

interface After extends Pick<Following, 'plan' | 'caller'> {
  /** The event about a child run, if the statement sent one. */
  due: Outgoing | null
  /** Of a run that was started. */
  started?: { startedVia: string; timeoutAt: Date | null }
  /** Keeps what was written in memory, before anybody hears of it. */
  remember(): void
}

/** Does what follows in this process from a start, or from a step and what comes after it, once that is committed. */
export function afterWriting(ctx: ServiceContext, ref: OfRun, written: Returned, after: After): void {
  const { plan, caller, due, started, remember } = after
  if (caller) caller.verified = true
  settleRecalled(plan?.begun ?? null, written)
  if (started) countInsert(ctx, 'runs')
  if (plan?.pause) countInsert(ctx, 'pauses')
  afterCommit(ctx, () => {
    due?.committed(written.generation)
    remember()
    if (started) count('millrace_runs_started_total', { via: started.startedVia })
    if (started?.timeoutAt) dueBy(started.timeoutAt)
    if (plan?.pause) watchPause(ctx, ref, plan.pause)
    notifyLocally(ref.runId)
    if (plan?.ending) afterEnd(ref, plan.ending)
    else if (plan?.pause) noteNews(ref.runId)
  })
}

/** Call once the end of a run is committed: this process starts nothing more of it, and stops what it still does for it. */
export function afterEnd(ref: OfRun, { outcome }: Pick<Ending, 'outcome'>): void {
  count('millrace_runs_ended_total', { outcome })
  noteNews(ref.runId)
  stopWorkOf(ref)
}

/** Whether a step that begins may use what its type remembers. */
function settleRecalled(begun: StartedAttempt | null, { tool_stamp }: Returned): void {
  if (begun?.recalled && begun.recalled.stamp === tool_stamp) begun.known = begun.recalled.value
}
