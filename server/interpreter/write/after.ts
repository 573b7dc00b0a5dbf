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
  /** For a run that was started. */
  started?: { startedVia: string; timeoutAt: Date | null }
  /** Caches the written rows in memory, before anyone is notified. */
  remember(): void
}

/** Runs the follow-up work of a committed start, or of a committed step and what comes after it, in this process. */
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

/** Call once the end of a run is committed: this process starts no more of its work, and stops the rest. */
export function afterEnd(ref: OfRun, { outcome }: Pick<Ending, 'outcome'>): void {
  count('millrace_runs_ended_total', { outcome })
  noteNews(ref.runId)
  stopWorkOf(ref)
}

/** Whether a step that begins may use the value that its type remembers. */
function settleRecalled(begun: StartedAttempt | null, { tool_stamp }: Returned): void {
  if (begun?.recalled && begun.recalled.stamp === tool_stamp) begun.known = begun.recalled.value
}
