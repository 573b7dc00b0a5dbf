import { and, eq, ne, sql } from 'drizzle-orm'
import { users } from '@/db/schema/members'
import { pauses, runs, stepRecords } from '@/db/schema/runs'
import { taskClaims } from '@/db/schema/tasks'
import type { ServiceContext } from '../context'
import type { JsonValue } from '../definition/json'
import { pauseIs, recordOfPause } from '../run-store/conditions'
import { claimIs } from '../runs/claim-row'
import { maskWords } from '../runs/mask-words'
import { cutMarker, presentPause } from '../runs/present'
import { tenantMasker } from '../vault/masker'
import type { DeliveryRow, EndpointRow } from './find'
import { slackBody } from './slack'

/** A larger result is omitted; the message links to it. */
const MAX_RESULT_BYTES = 256 * 1024

/** Events of a pause. */
const PAUSED: ReadonlySet<string> = new Set(['run.paused', 'task.assigned', 'task.overdue', 'task.reminded'])
/** Of these, those that may be about a reminder or a hand-over. */
const REMINDED: ReadonlySet<string> = new Set(['task.assigned', 'task.reminded'])

/**
 * The body of a message: the state of its run at the event, masked like the run's status. Except for `givenTo` and the
 * assignees and reminders of a task, every value is constant or follows from the event, so the time of reading does not
 * matter.
 * @returns null if the run has been deleted
 */
export async function bodyOf(
  ctx: ServiceContext,
  delivery: DeliveryRow,
  format: EndpointRow['format'],
): Promise<string | null> {
  const { type, runId, pauseId, createdAt } = delivery
  if (runId === null) return null
  const size = sql<number>`coalesce(octet_length(${runs.result}::text), 0)`
  const [run] = await ctx.db
    .select({
      runId: runs.id,
      workflowId: runs.workflowId,
      workflowVersion: runs.workflowVersion,
      workflowName: runs.workflowName,
      businessKey: runs.businessKey,
      status: runs.status,
      outcome: runs.outcome,
      startTime: runs.startTime,
      endTime: runs.endTime,
      startedVia: runs.startedVia,
      retryOf: runs.retryOf,
      error: runs.error,
      cancellation: runs.cancellation,
      size,
      result: sql<JsonValue>`case when ${size} <= ${MAX_RESULT_BYTES} then ${runs.result} end`,
    })
    .from(runs)
    .where(and(eq(runs.tenantId, ctx.tenantId), eq(runs.id, runId)))
  if (!run) return null
  const masker = await tenantMasker(ctx)
  const {
    error,
    cancellation,
    result,
    outcome,
    endTime,
    startTime,
    status,
    size: bytes,
    ...rest
  } = maskWords(run, masker)
  const of = { ...rest, startTime: startTime.toISOString() }
  const cut = bytes > MAX_RESULT_BYTES ? cutMarker(runId, bytes, 'field=result') : masker.json(result)
  const data =
    type === 'run.started'
      ? { ...of, status: 'running', outcome: null }
      : PAUSED.has(type)
        ? {
            ...{ ...of, status: 'paused', outcome: null },
            ...(await askedOf(ctx, { type, runId, pauseId }, masker)),
            ...(type === 'task.assigned' ? { givenTo: await givenTo(ctx, runId, pauseId) } : {}),
          }
        : {
            ...{ ...of, status, outcome, endTime: endTime?.toISOString() ?? null },
            ...(type === 'run.completed' ? { result: cut } : { error, cancellation }),
          }
  if (format === 'slack') return slackBody(type, data)
  return JSON.stringify({ type, timestamp: createdAt.toISOString(), data })
}

/**
 * The member whom another gave the task to, in the form of `assignees`; null if the workflow itself assigned it or has
 * handed it over since.
 */
async function givenTo({ db, tenantId }: ServiceContext, runId: string, pauseId: string | null) {
  const [claim] = await db
    .select({ email: users.email, at: taskClaims.claimedAt, reminders: stepRecords.reminders })
    .from(taskClaims)
    .innerJoin(users, eq(users.id, taskClaims.person))
    .innerJoin(pauses, pauseIs({ tenantId, runId }, pauseId ?? ''))
    .leftJoin(stepRecords, recordOfPause)
    .where(and(claimIs({ tenantId, runId, pauseId: pauseId ?? '' }), ne(taskClaims.person, taskClaims.claimedBy)))
  if (!claim) return null
  const last = claim.reminders?.at(-1)
  const handed = last && 'handedTo' in last && Date.parse(last.at) >= claim.at.getTime()
  return handed ? null : `user:${claim.email}`
}

/** The question of a pause; and its reminders, if the message may be about one. */
async function askedOf(
  ctx: ServiceContext,
  { type, runId, pauseId }: Pick<DeliveryRow, 'type' | 'pauseId'> & { runId: string },
  masker: Awaited<ReturnType<typeof tenantMasker>>,
) {
  const [found] = await ctx.db
    .select({ pause: pauses, reminders: stepRecords.reminders })
    .from(pauses)
    .leftJoin(stepRecords, recordOfPause)
    .where(pauseIs({ tenantId: ctx.tenantId, runId }, pauseId ?? ''))
  if (!found) return { pauseSignal: null }
  const { createdAt, dueAt, remindAt, ...same } = found.pause
  const times = {
    createdAt: createdAt.toISOString(),
    dueAt: dueAt?.toISOString() ?? null,
    remindAt: remindAt?.toISOString() ?? null,
  }
  const { reminders } = found
  return {
    pauseSignal: presentPause({ ...same, ...times }, masker),
    ...(reminders && REMINDED.has(type) ? { reminders: masker.json(reminders) } : {}),
  }
}
