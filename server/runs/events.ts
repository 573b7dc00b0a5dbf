import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { runs, stepRecords } from '@/db/schema/runs'
import { agentTurns } from '@/db/schema/turns'
import { handedOver } from '../agents/journal/key'
import { CALLS_BELOW } from '../agents/journal/shown'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { placeIn } from '../definition/branches'
import { AppError } from '../errors'
import { watchRun } from '../interpreter/index'
import { flag } from '../query/values'
import { attemptsBegun } from '../run-store/attempts'
import { runIs } from '../run-store/conditions'
import { hasRun } from '../run-store/find-run'
import type { Masker } from '../vault/mask'
import { tenantMasker } from '../vault/masker'
import { maskWords } from './mask-words'

const POLL_MS = 1_000

export interface RunEvent {
  id: string
  event: 'run' | 'step' | 'call' | 'end'
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

interface CallChange {
  change: number
  turnId: string
  stepId: string
  visit: number
  branch: string
  seq: number
  kind: string
  name: string
  errorCode: string | null
  startedAt: string
  endedAt: string
}

/** The query string. */
export const FollowRun = z.object({
  calls: flag.describe('Whether to report the calls of agents too, each once it is recorded, as `call`.'),
})

/**
 * The changes of a run as they happen, starting from its current state or after the last event the client saw. Event
 * ids are the rows' change numbers, so a reconnect neither misses nor repeats events. Null when the client has seen the
 * end. Ends after the run's end, or when the signal fires.
 * @throws AppError RUN_NOT_FOUND, INVALID_INPUT
 */
export async function openRunEvents(
  ctx: ServiceContext,
  input: { runId: string; lastEventId: string | null; calls?: boolean },
): Promise<((signal: AbortSignal) => AsyncGenerator<RunEvent>) | null> {
  authorize(ctx, 'run:read')
  const seen = /^(\d{1,15})(-end)?$/.exec(input.lastEventId ?? '0')
  if (!seen) {
    throw new AppError('INVALID_INPUT', {
      details: [{ path: 'Last-Event-ID', message: 'is not an id of an event of this stream' }],
    })
  }
  const after = Number(seen[1])
  const { runId, calls = false } = input
  if (!(await hasRun(ctx, runId))) throw new AppError('RUN_NOT_FOUND')
  if (seen[2]) return null
  return (signal) => follow(ctx, { runId, calls }, after, signal)
}

async function* follow(
  ctx: ServiceContext,
  { runId, calls }: { runId: string; calls: boolean },
  after: number,
  signal: AbortSignal,
): AsyncGenerator<RunEvent> {
  const hints = hintsOf(runId, signal)
  try {
    for (let seen = after; !signal.aborted; await hints.next()) {
      const changes = await readChanges(ctx, runId, { after: seen, calls })
      if (!changes) return
      const parts = [...changes.steps, ...changes.calls]
      const masker = parts.length === 0 ? null : await tenantMasker(ctx)
      for (const event of toEvents(changes, seen, masker)) yield event
      seen = Math.max(seen, changes.run.change, ...parts.map(({ change }) => change))
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

/** The run, its records that changed after `after`, and the calls recorded since, from one snapshot; null if no such run exists. */
async function readChanges(ctx: ServiceContext, runId: string, { after, calls }: { after: number; calls: boolean }) {
  const [row] = await ctx.db
    .select({
      run: runColumns,
      steps: sql<StepChange[]>`(
        select coalesce(jsonb_agg(jsonb_build_object(
          'change', s.change, 'stepId', s.step_id, 'stepType', s.step_type, 'stepName', s.step_name,
          'visit', s.visit, 'branch', s.branch, 'status', s.status, 'attempt', ${attemptsBegun(sql`s.attempt`, sql`s.attempts`)}, 'startTime', s.start_time,
          'endTime', s.end_time, 'errorCode', s.error_code) order by s.change), '[]'::jsonb)
        from ${stepRecords} s
        where s.tenant_id = runs.tenant_id and s.run_id = runs.id and s.change > ${after})`,
      calls: calls ? callsAfter(after) : sql<CallChange[]>`'[]'::jsonb`,
    })
    .from(runs)
    .where(runIs(ctx, runId))
  return row ? { runId, ...row } : null
}

/** A visit changes when it ends, so later calls are in open visits and those that changed. */
function callsAfter(after: number) {
  return sql<CallChange[]>`(
    select coalesce(jsonb_agg(jsonb_build_object(
      'change', c.change, 'turnId', c.turn_id, 'stepId', c.step_id, 'visit', c.visit, 'branch', c.branch, 'seq', c.seq,
      'kind', c.kind, 'name', c.name, 'errorCode', c.error_code, 'startedAt', c.started_at, 'endedAt', c.ended_at)
      order by c.change), '[]'::jsonb)
    from ${stepRecords} s cross join lateral (
      select c.*, s.step_id, s.visit, s.branch from ${agentTurns} t
        cross join lateral (select c.* from ${CALLS_BELOW} and c.change > ${after} offset 0) c
      where t.tenant_id = s.tenant_id and t.run_id = s.run_id and t.branch = s.branch and t.step_id = s.step_id
        and t.visit = s.visit offset 0) c
    where s.tenant_id = runs.tenant_id and s.run_id = runs.id and (s.change > ${after} or s.end_time is null))`
}

type Changes = NonNullable<Awaited<ReturnType<typeof readChanges>>>

function toEvents({ runId, run, steps, calls }: Changes, after: number, masker: Masker | null): RunEvent[] {
  const events = [
    ...steps.map((step) => ({
      change: step.change,
      event: 'step' as const,
      data: presentStep(runId, masker ? maskWords(step, masker) : step),
    })),
    ...calls.map((call) => ({ change: call.change, event: 'call' as const, data: presentCall(runId, call, masker) })),
  ]
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
    attempt,
    startTime: new Date(startTime).toISOString(),
    ...times,
    ...(errorCode === null ? {} : { errorCode }),
  }
}

function presentCall(runId: string, call: CallChange, masker: Masker | null) {
  const { change: _change, branch, name, errorCode, startedAt, endedAt, ...rest } = call
  return {
    ...{
      runId,
      ...rest,
      ...handedOver(call.turnId),
      ...placeIn(branch),
      name: masker ? masker.text(name) : name,
    },
    ...{ startedAt: new Date(startedAt).toISOString(), endedAt: new Date(endedAt).toISOString() },
    ...(errorCode === null ? {} : { errorCode }),
  }
}
