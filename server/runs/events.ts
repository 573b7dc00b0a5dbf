import { sql } from 'drizzle-orm'
import { runs, stepRecords } from '@/db/schema/runs'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { placeIn } from '../definition/branches'
import { AppError } from '../errors'
import { isId } from '../ids'
import { watchRun } from '../interpreter/index'
import { runIs } from '../run-store/conditions'
import type { Masker } from '../vault/mask'
import { tenantMasker } from '../vault/masker'
import { maskWords } from './mask-words'

const POLL_MS = 1_000

export interface RunEvent {
  id: string
  event: 'run' | 'step' | 'end'
  data: object
}

interface StepChange {
  change: number
  stepId: string
  stepType: string
  stepName: string
  visit: number
  branch: string
  status: string
  attempt: number
  startTime: string
  endTime: string | null
  errorCode: string | null
}

/**
 * The changes of a run as they happen, starting from its current state or after the last event the client saw. Event
 * ids are the rows' change numbers, so a reconnect neither misses nor repeats events. Null when the client has seen the
 * end. Ends after the run's end, or when the signal fires.
 * @throws AppError RUN_NOT_FOUND, INVALID_INPUT
 */
export async function openRunEvents(
  ctx: ServiceContext,
  input: { runId: string; lastEventId: string | null },
): Promise<((signal: AbortSignal) => AsyncGenerator<RunEvent>) | null> {
  authorize(ctx, 'run:read')
  const seen = /^(\d{1,15})(-end)?$/.exec(input.lastEventId ?? '0')
  if (!seen) {
    throw new AppError('INVALID_INPUT', {
      details: [{ path: 'Last-Event-ID', message: 'is not an id of an event of this stream' }],
    })
  }
  const after = Number(seen[1])
  if (!isId(input.runId) || !(await readChanges(ctx, input.runId, after))) throw new AppError('RUN_NOT_FOUND')
  if (seen[2]) return null
  return (signal) => follow(ctx, input.runId, after, signal)
}

async function* follow(
  ctx: ServiceContext,
  runId: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<RunEvent> {
  const hints = hintsOf(runId, signal)
  try {
    for (let seen = after; !signal.aborted; await hints.next()) {
      const changes = await readChanges(ctx, runId, seen)
      if (!changes) return
      const masker = changes.steps.length === 0 ? null : await tenantMasker(ctx)
      for (const event of toEvents(changes, seen, masker)) yield event
      seen = Math.max(seen, changes.run.change, ...changes.steps.map((step) => step.change))
      const { run } = changes
      if (!run.endTime) continue
      yield { id: `${seen}-end`, event: 'end', data: { runId, status: run.status, outcome: run.outcome } }
      return
    }
  } finally {
    hints.close()
  }
}

/** `next` resolves when the run may have changed, after one second at the latest, or when the caller has left. */
function hintsOf(runId: string, signal: AbortSignal) {
  let notified = false
  let wake: () => void = () => {}
  const notify = () => {
    notified = true
    wake()
  }
  const unwatch = watchRun(runId, notify, { every: true })
  signal.addEventListener('abort', notify)
  return {
    async next(): Promise<void> {
      if (!notified && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, POLL_MS)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      notified = false
    },
    close(): void {
      unwatch()
      signal.removeEventListener('abort', notify)
    },
  }
}

const runColumns = {
  change: runs.change,
  status: runs.status,
  outcome: runs.outcome,
  currentStepId: runs.currentStepId,
  cancelRequestedAt: runs.cancelRequestedAt,
  startTime: runs.startTime,
  endTime: runs.endTime,
}

/** The run and its records that changed after `after`, from one snapshot; null if no such run exists. */
async function readChanges(ctx: ServiceContext, runId: string, after: number) {
  const [row] = await ctx.db
    .select({
      run: runColumns,
      steps: sql<StepChange[]>`(
        select coalesce(jsonb_agg(jsonb_build_object(
          'change', s.change, 'stepId', s.step_id, 'stepType', s.step_type, 'stepName', s.step_name,
          'visit', s.visit, 'branch', s.branch, 'status', s.status, 'attempt', s.attempt, 'startTime', s.start_time,
          'endTime', s.end_time, 'errorCode', s.error_code) order by s.change), '[]'::jsonb)
        from ${stepRecords} s
        where s.tenant_id = runs.tenant_id and s.run_id = runs.id and s.change > ${after})`,
    })
    .from(runs)
    .where(runIs(ctx, runId))
  return row ? { runId, ...row } : null
}

type Changes = NonNullable<Awaited<ReturnType<typeof readChanges>>>

function toEvents({ runId, run, steps }: Changes, after: number, masker: Masker | null): RunEvent[] {
  const events = steps.map((step) => ({
    change: step.change,
    event: 'step' as const,
    data: presentStep(runId, masker ? maskWords(step, masker) : step),
  }))
  const runEvent = { change: run.change, event: 'run' as const, data: presentRun(runId, run) }
  return [...events, ...(run.change > after ? [runEvent] : [])]
    .sort((a, b) => a.change - b.change)
    .map(({ change, event, data }) => ({ id: String(change), event, data }))
}

function presentRun(runId: string, run: Changes['run']) {
  return {
    runId,
    status: run.status,
    outcome: run.outcome,
    currentStepId: run.currentStepId,
    cancelling: run.cancelRequestedAt !== null && run.endTime === null,
    startTime: run.startTime.toISOString(),
    ...(run.endTime ? { endTime: run.endTime.toISOString() } : {}),
  }
}

function presentStep(runId: string, step: StepChange) {
  const { change: _change, startTime, endTime, errorCode, attempt, branch, ...rest } = step
  const times =
    endTime === null
      ? {}
      : { endTime: new Date(endTime).toISOString(), duration: Date.parse(endTime) - Date.parse(startTime) }
  return {
    runId,
    ...rest,
    ...placeIn(branch),
    attempt: Math.max(1, attempt),
    startTime: new Date(startTime).toISOString(),
    ...times,
    ...(errorCode === null ? {} : { errorCode }),
  }
}
