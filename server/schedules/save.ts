import { and, eq, sql } from 'drizzle-orm'
import { schedules } from '@/db/schema/schedules'
import { workflows } from '@/db/schema/workflows'
import { record, recordChanges } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import { differences } from '../definition/audit'
import { nextTime, parseCron } from '../definition/cron'
import type { JsonObject } from '../definition/json'
import { AppError, ImpossibleState } from '../errors'
import { newId } from '../ids'
import { parseInput } from '../parse'
import { readStartInput } from '../runs/input'
import { tenantMasker } from '../vault/masker'
import { findRow, findWhole } from '../versioned/rows'
import { WORKFLOW } from '../workflows/noun'
import { findSchedule, type OneSchedule, scheduleIs } from './find'
import { getSchedule } from './list'
import { presentSchedule } from './present'
import { CreateSchedule, UpdateSchedule } from './schema'

const MOST_SCHEDULES = 50

/**
 * Creates a schedule. What it starts is what a call would start at that time: the published version.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, INVALID_INPUT, CONFLICT
 */
export async function createSchedule(ctx: ServiceContext, { workflowId, body }: { workflowId: string; body: unknown }) {
  authorize(ctx, 'workflow:publish')
  return withTransaction(ctx, async (tx) => {
    const workflow = await findRow(tx, WORKFLOW, workflowId)
    if (workflow.status === 'archived') throw new AppError('WORKFLOW_ARCHIVED')
    const { name, cron, timeZone, catchUp, data, enabled } = parseInput(CreateSchedule, body)
    await checkData(tx, workflowId, data)
    const { tenantId, actor } = tx
    const count = await tx.db.$count(
      schedules,
      and(eq(schedules.tenantId, tenantId), eq(schedules.workflowId, workflowId)),
    )
    if (count >= MOST_SCHEDULES)
      throw new AppError('CONFLICT', { message: `A workflow has at most ${MOST_SCHEDULES} schedules` })
    const at = tx.now()
    const [row] = await tx.db
      .insert(schedules)
      .values({
        ...{ tenantId, id: newId('sch'), workflowId, name, cron, timeZone, catchUp, data, enabled },
        ...{ nextAt: enabled ? nextTime(parseCron(cron), timeZone, at) : null },
        ...{ createdBy: actor.id, updatedBy: actor.id, createdAt: at, updatedAt: at },
      })
      .returning()
    if (!row) throw new ImpossibleState('schedule-not-inserted', workflowId)
    await record(tx, 'schedule.created', row, { workflow: workflowId, cron, timeZone, enabled })
    return presentSchedule(row, null, await tenantMasker(tx))
  })
}

/**
 * Changes what the body names. A new time table counts from now; so does one that was paused, whose times meanwhile are
 * not made up for.
 * @throws AppError WORKFLOW_NOT_FOUND, NOT_FOUND, INVALID_INPUT
 */
export async function updateSchedule(ctx: ServiceContext, { body, ...one }: OneSchedule & { body: unknown }) {
  authorize(ctx, 'workflow:publish')
  return withTransaction(ctx, async (tx) => {
    const old = await findSchedule(tx, one, { lock: true })
    const changes = parseInput(UpdateSchedule, body)
    if (changes.data) await checkData(tx, one.workflowId, changes.data)
    const { cron = old.cron, timeZone = old.timeZone, enabled = old.enabled } = changes
    const same = cron === old.cron && timeZone === old.timeZone && old.enabled
    const next = same ? old.nextAt : nextTime(parseCron(cron), timeZone, tx.now())
    await tx.db
      .update(schedules)
      .set({
        ...{ cron, timeZone, enabled, nextAt: enabled ? next : null },
        name: changes.name ?? old.name,
        catchUp: changes.catchUp ?? old.catchUp,
        data: changes.data ?? old.data,
        updatedBy: tx.actor.id,
        updatedAt: tx.now(),
      })
      .where(scheduleIs(tx, one))
    const { name = old.name } = changes
    const context = { workflow: one.workflowId }
    await recordChanges(tx, 'schedule.updated', { id: old.id, name }, differences(old, changes), context)
    return getSchedule(tx, one)
  })
}

/**
 * Deletes a schedule. Runs it has started stay.
 * @throws AppError WORKFLOW_NOT_FOUND, NOT_FOUND
 */
export async function deleteSchedule(ctx: ServiceContext, one: OneSchedule): Promise<{ id: string; deleted: true }> {
  authorize(ctx, 'workflow:publish')
  return withTransaction(ctx, async (tx) => {
    const schedule = await findSchedule(tx, one, { lock: true })
    await tx.db.delete(schedules).where(scheduleIs(tx, one))
    await record(tx, 'schedule.deleted', schedule, { workflow: one.workflowId })
    return { id: schedule.id, deleted: true }
  })
}

/** Refuses now what a start would refuse at night. @throws AppError INVALID_INPUT */
async function checkData(tx: TransactionContext, workflowId: string, data: JsonObject): Promise<void> {
  const started = sql`coalesce(${workflows.publishedVersion}, ${workflows.version})`
  const { content } = await findWhole(tx, WORKFLOW, workflowId, started)
  try {
    readStartInput(content.payload, data)
  } catch (err) {
    if (!(err instanceof AppError)) throw err
    const details = err.details.map((detail) => ({ ...detail, path: detail.path ? `data.${detail.path}` : 'data' }))
    throw new AppError('INVALID_INPUT', { details })
  }
}
