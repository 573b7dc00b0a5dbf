import { and, eq, inArray, sql } from 'drizzle-orm'
import { pauses, runs, stepRecords } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import type { RunError } from '../../definition/run'
import { attemptsBegun } from '../../run-store/attempts'
import { maskWords } from '../../runs/mask-words'
import type { Masker } from '../../vault/mask'
import { tenantMasker } from '../../vault/masker'
import { nameActors } from '../actors'
import { NUMBER_OF_RUN } from '../workflows/numbers'
import { stateOf } from './filter'

/** Lists cut longer messages; the run's own page shows them in full. */
export const MESSAGE_CHARS = 300

interface Waiting {
  pauseId: string
  stepId: string
  stepName: string | null
  kind: string
  title: string | null
  since: string
}

/** A run's wait for something other than a person. */
interface Awaits {
  eventName: string | null
  childRunId: string | null
}

interface FailedStep {
  name: string
  attempts: number
}

/** Runs for lists, newest first: without data and history, with what each is waiting for or why it failed. */
export async function readRunItems(ctx: ServiceContext, ids: string[]) {
  if (ids.length === 0) return []
  const [rows, masker] = await Promise.all([
    ctx.db
      .select({
        runId: runs.id,
        workflowId: runs.workflowId,
        workflowName: runs.workflowName,
        businessKey: runs.businessKey,
        workflowVersion: runs.workflowVersion,
        versionNumber: NUMBER_OF_RUN,
        status: runs.status,
        outcome: runs.outcome,
        cancelRequestedAt: runs.cancelRequestedAt,
        startTime: runs.startTime,
        endTime: runs.endTime,
        startedBy: runs.startedBy,
        startedVia: runs.startedVia,
        retryOf: runs.retryOf,
        error: sql<RunError | null>`${runs.error}`,
        waiting: sql<Waiting | null>`case when ${runs.status} = 'paused' then (
          select jsonb_build_object('pauseId', p.id, 'stepId', p.step_id, 'kind', p.kind, 'title', p.signal->>'title',
            'since', p.created_at, 'stepName', s.step_name)
          from ${pauses} p left join ${stepRecords} s on s.tenant_id = p.tenant_id and s.run_id = p.run_id
            and s.branch = p.branch and s.step_id = p.step_id and s.visit = p.visit
          where p.tenant_id = runs.tenant_id and p.run_id = runs.id and p.answered_at is null and p.signal is not null
          order by p.created_at, p.id limit 1) end`,
        awaits: sql<Awaits | null>`case when ${runs.status} = 'running' then (
          select jsonb_build_object('eventName', p.event_name, 'childRunId', p.child_run_id)
          from ${pauses} p
          where p.tenant_id = runs.tenant_id and p.run_id = runs.id and p.answered_at is null and p.signal is null
          order by p.created_at, p.id limit 1) end`,
        failedStep: sql<FailedStep | null>`case when ${runs.outcome} = 'failed' then (
          select jsonb_build_object('name', s.step_name, 'attempts', ${attemptsBegun(sql`s.attempt`, sql`s.attempts`)}) from ${stepRecords} s
          where s.tenant_id = runs.tenant_id and s.run_id = runs.id and s.step_id = runs.error->>'stepId'
            and s.status = 'failed' and s.error_code = runs.error->>'code'
          order by s.seq desc limit 1) end`,
      })
      .from(runs)
      .where(and(eq(runs.tenantId, ctx.tenantId), inArray(runs.id, ids)))
      .orderBy(sql`${runs.startTime} desc`, sql`${runs.id} desc`),
    tenantMasker(ctx),
  ])
  const nameOf = await nameActors(
    ctx,
    rows.map(({ startedBy }) => startedBy),
  )
  return rows.map(
    ({ status, outcome, cancelRequestedAt, startTime, endTime, error, waiting, awaits, failedStep, ...run }) => ({
      ...maskWords(run, masker),
      state: stateOf({ status, outcome }),
      cancelling: cancelRequestedAt !== null && endTime === null,
      startTime: startTime.toISOString(),
      endTime: endTime?.toISOString() ?? null,
      startedBy: nameOf(run.startedBy),
      waiting: waiting && {
        ...maskWords(waiting, masker),
        since: new Date(waiting.since).toISOString(),
      },
      /** Such as `an event: paid`; null without a wait. */
      awaits: awaits && awaited(awaits, masker),
      failure:
        error && outcome === 'failed'
          ? {
              code: error.code,
              message: masker.text(error.message).slice(0, MESSAGE_CHARS),
              stepId: error.stepId,
              stepName: masker.json(failedStep?.name ?? error.stepId),
              attempts: failedStep?.attempts ?? 1,
            }
          : null,
    }),
  )
}

function awaited({ eventName, childRunId }: Awaits, masker: Masker): string {
  if (eventName !== null) return `an event: ${masker.text(eventName)}`
  return childRunId === null ? 'a set time' : 'the end of another run'
}

export type RunItem = Awaited<ReturnType<typeof readRunItems>>[number]
