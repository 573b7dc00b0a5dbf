import { and, eq } from 'drizzle-orm'
import { schedules } from '@/db/schema/schedules'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { isId } from '../ids'
import { findRow } from '../versioned/rows'
import { WORKFLOW } from '../workflows/noun'
import type { ScheduleRow } from './present'

/** Identifies a schedule of a workflow. */
export interface OneSchedule {
  workflowId: string
  scheduleId: string
}

export const scheduleIs = (ctx: ServiceContext, { workflowId, scheduleId }: OneSchedule) =>
  and(eq(schedules.tenantId, ctx.tenantId), eq(schedules.workflowId, workflowId), eq(schedules.id, scheduleId))

/**
 * A schedule of a workflow, if the caller may see it.
 * @throws AppError WORKFLOW_NOT_FOUND, NOT_FOUND
 */
export async function findSchedule(
  ctx: ServiceContext,
  one: OneSchedule,
  options: { lock?: boolean } = {},
): Promise<ScheduleRow> {
  await findRow(ctx, WORKFLOW, one.workflowId)
  if (!isId(one.scheduleId)) throw new AppError('NOT_FOUND')
  const query = ctx.db.select().from(schedules).where(scheduleIs(ctx, one))
  const [row] = await (options.lock ? query.for('update') : query)
  if (!row) throw new AppError('NOT_FOUND')
  return row
}
