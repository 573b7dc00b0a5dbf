import { and, eq } from 'drizzle-orm'
import { schedules } from '@/db/schema/schedules'
import { nextTime, parseCron } from '@/lib/cron'
import { record, recordChanges } from '../audit/record'
import type { TransactionContext } from '../context'
import { type AuditDetails, differences } from '../definition/audit'
import type { JsonObject } from '../definition/json'
import { AppError, ImpossibleState } from '../errors'
import { requireFiles } from '../files/named'
import { readStartInput } from '../runs/input'
import { findWhole } from '../versioned/row-at'
import { findRow } from '../versioned/rows'
import { WORKFLOW } from '../workflows/noun'
import { scheduleIs } from './find'
import type { ScheduleRow } from './present'

const MAX_SCHEDULES = 50

/** The fields that people set; the rest follows from them. */
export type ScheduleContent = Pick<
  ScheduleRow,
  'workflowId' | 'name' | 'cron' | 'timeZone' | 'catchUp' | 'data' | 'enabled'
>

/**
 * Inserts a schedule. `checkData` checks that its data can start the workflow.
 * @param by more details for its audit entry
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, CONFLICT
 */
export async function insertSchedule(
  tx: TransactionContext,
  id: string,
  content: ScheduleContent,
  by: AuditDetails = {},
): Promise<ScheduleRow> {
  const { workflowId, cron, timeZone, enabled } = content
  await requireStartable(tx, workflowId)
  const { tenantId, actor } = tx
  const at = tx.now()
  const [row] = await tx.db
    .insert(schedules)
    .values({
      ...{ tenantId, id, ...content, nextAt: enabled ? nextTime(parseCron(cron), timeZone, at) : null },
      ...{ createdBy: actor.id, updatedBy: actor.id, createdAt: at, updatedAt: at },
    })
    .returning()
  if (!row) throw new ImpossibleState('schedule-not-inserted', workflowId)
  await record(tx, 'schedule.created', row, { workflow: workflowId, cron, timeZone, enabled, ...by })
  return row
}

/**
 * Changes a locked schedule. A new timetable counts from now, and so does that of a resumed schedule: missed times are
 * skipped.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, CONFLICT, for a change of its workflow
 */
export async function changeSchedule(
  tx: TransactionContext,
  old: ScheduleRow,
  changes: { [F in keyof ScheduleContent]?: ScheduleContent[F] | undefined },
  by: AuditDetails = {},
): Promise<void> {
  const { workflowId = old.workflowId, cron = old.cron, timeZone = old.timeZone, enabled = old.enabled } = changes
  if (workflowId !== old.workflowId) await requireStartable(tx, workflowId)
  const same = cron === old.cron && timeZone === old.timeZone && old.enabled
  const next = same ? old.nextAt : nextTime(parseCron(cron), timeZone, tx.now())
  const { name = old.name } = changes
  await tx.db
    .update(schedules)
    .set({
      ...{ workflowId, name, cron, timeZone, enabled, nextAt: enabled ? next : null },
      catchUp: changes.catchUp ?? old.catchUp,
      data: changes.data ?? old.data,
      updatedBy: tx.actor.id,
      updatedAt: tx.now(),
    })
    .where(scheduleIs(tx, { workflowId: old.workflowId, scheduleId: old.id }))
  const context = { workflow: old.workflowId, ...by }
  await recordChanges(tx, 'schedule.updated', { id: old.id, name }, differences(old, changes), context)
}

/** Deletes a locked schedule. Its runs stay. */
export async function removeSchedule(tx: TransactionContext, old: ScheduleRow, by: AuditDetails = {}): Promise<void> {
  await tx.db.delete(schedules).where(scheduleIs(tx, { workflowId: old.workflowId, scheduleId: old.id }))
  await record(tx, 'schedule.deleted', old, { workflow: old.workflowId, ...by })
}

/** Rejects now what a start would reject at night. @throws AppError WORKFLOW_NOT_FOUND, INVALID_INPUT */
export async function checkData(tx: TransactionContext, workflowId: string, data: JsonObject): Promise<void> {
  const { content } = await findWhole(tx, WORKFLOW, workflowId, 'started')
  try {
    await requireFiles(tx, content.payload, readStartInput(content.payload, data))
  } catch (err) {
    if (!(err instanceof AppError)) throw err
    const details = err.details.map((detail) => ({ ...detail, path: detail.path ? `data.${detail.path}` : 'data' }))
    throw new AppError('INVALID_INPUT', { details })
  }
}

/** @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, CONFLICT if it already has the maximum of schedules */
async function requireStartable(tx: TransactionContext, workflowId: string): Promise<void> {
  const workflow = await findRow(tx, WORKFLOW, workflowId)
  if (workflow.status === 'archived') throw new AppError('WORKFLOW_ARCHIVED')
  const where = and(eq(schedules.tenantId, tx.tenantId), eq(schedules.workflowId, workflowId))
  if ((await tx.db.$count(schedules, where)) >= MAX_SCHEDULES)
    throw new AppError('CONFLICT', { message: `A workflow has at most ${MAX_SCHEDULES} schedules` })
}
