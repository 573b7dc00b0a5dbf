import { and, desc, eq, sql } from 'drizzle-orm'
import { schedules, scheduleTicks } from '@/db/schema/schedules'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { tenantMasker } from '../vault/masker'
import { findRow } from '../versioned/rows'
import { WORKFLOW } from '../workflows/noun'
import { findSchedule, type OneSchedule } from './find'
import { scheduleMasker, scheduleMaskers } from './masker'
import { presentSchedule, presentTick, type TickRow } from './present'

const MAX_TICKS = 50

/** Schedules, each with its last tick. */
export async function readSchedules(ctx: ServiceContext, workflowId?: string) {
  const rows = await ctx.db
    .select({ schedule: schedules, last: scheduleTicks })
    .from(schedules)
    .leftJoin(
      scheduleTicks,
      and(
        eq(scheduleTicks.tenantId, schedules.tenantId),
        eq(scheduleTicks.scheduleId, schedules.id),
        sql`${scheduleTicks.at} = (
          select max(t.at) from schedule_ticks t
          where t.tenant_id = ${schedules.tenantId} and t.schedule_id = ${schedules.id})`,
      ),
    )
    .where(and(eq(schedules.tenantId, ctx.tenantId), workflowId ? eq(schedules.workflowId, workflowId) : undefined))
    .orderBy(desc(schedules.createdAt), desc(schedules.id))
  const found = rows.map(({ schedule }) => schedule)
  const maskerOf = await scheduleMaskers(ctx, found, await tenantMasker(ctx))
  return rows.map(({ schedule, last }) => presentSchedule(schedule, last, maskerOf(schedule.id)))
}

/**
 * A workflow's schedules, newest first.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function listSchedules(ctx: ServiceContext, { workflowId }: { workflowId: string }) {
  authorize(ctx, 'workflow:read')
  await findRow(ctx, WORKFLOW, workflowId)
  return readSchedules(ctx, workflowId)
}

/**
 * A schedule with the outcomes of its last 50 times, newest first.
 * @throws AppError WORKFLOW_NOT_FOUND, NOT_FOUND
 */
export async function getSchedule(ctx: ServiceContext, one: OneSchedule) {
  authorize(ctx, 'workflow:read')
  const row = await findSchedule(ctx, one)
  const ticks: TickRow[] = await ctx.db
    .select()
    .from(scheduleTicks)
    .where(and(eq(scheduleTicks.tenantId, ctx.tenantId), eq(scheduleTicks.scheduleId, row.id)))
    .orderBy(desc(scheduleTicks.at))
    .limit(MAX_TICKS)
  const masker = await scheduleMasker(ctx, row, await tenantMasker(ctx))
  return { ...presentSchedule(row, ticks[0] ?? null, masker), ticks: ticks.map((tick) => presentTick(tick, masker)) }
}
