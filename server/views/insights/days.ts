import { and, desc, eq, gte, inArray, lt, type SQL, sql } from 'drizzle-orm'
import { countedDays, runDays, waitDays } from '@/db/schema/insights'
import { pauses, runs } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import { bucketOf } from './buckets'

export const DAY_MS = 24 * 60 * 60_000
/** The longest period of the insights. */
export const MOST_DAYS = 90
/** A change becomes visible only when it commits, so a day is counted this long after it is over. */
const GRACE_MS = 60 * 60_000
/** Days that have not been counted yet are counted for this long, and the rest with the next request. */
const BUDGET_MS = 1_000

export interface RunCount {
  day: string
  workflowId: string
  outcome: string
  bucket: number
  runs: number
}
export interface WaitCount {
  workflowId: string
  stepId: string
  bucket: number
  answers: number
}

export const dayOf = (time: Date) => time.toISOString().slice(0, 10)

/** The last so many days, the newest first. */
export function lastDays(now: Date, count: number): string[] {
  return Array.from({ length: count }, (_, back) => dayOf(new Date(now.getTime() - back * DAY_MS)))
}

/**
 * Counts the days that are over and were not counted yet.
 * @returns the days without final counts: those of today, which are `live`, and those it had no time for
 */
export async function countDays(ctx: ServiceContext, days: string[]): Promise<{ live: string[]; later: string[] }> {
  const now = ctx.now().getTime()
  const over = days.filter((day) => Date.parse(day) + DAY_MS + GRACE_MS <= now)
  const known = await ctx.db
    .select({ day: countedDays.day })
    .from(countedDays)
    .where(and(eq(countedDays.tenantId, ctx.tenantId), inArray(countedDays.day, over)))
  const missing = over.filter((day) => !known.some((row) => row.day === day))
  const begun = performance.now()
  while (missing.length > 0 && performance.now() - begun < BUDGET_MS) await countDay(ctx, missing.shift() ?? '')
  return { live: days.filter((day) => !over.includes(day)), later: missing }
}

/**
 * Counts all days that insights can show, before runs of them are deleted.
 * @returns whether it had time for all of them
 */
export async function countAllDays(ctx: ServiceContext): Promise<boolean> {
  return (await countDays(ctx, lastDays(ctx.now(), MOST_DAYS))).later.length === 0
}

/** Two processes may count the same day: both find the same. */
async function countDay(ctx: ServiceContext, day: string): Promise<void> {
  await ctx.db.execute(sql`
    with marked as (
      insert into ${countedDays} (tenant_id, day) values (${ctx.tenantId}, ${day}) on conflict do nothing
    ), waited as (
      insert into ${waitDays} (tenant_id, day, workflow_id, step_id, bucket, answers)
      select ${ctx.tenantId}, ${day}::date, * from (${waitsOf(ctx, day, day)}) w on conflict do nothing
    )
    insert into ${runDays} (tenant_id, day, workflow_id, outcome, bucket, runs)
    select ${ctx.tenantId}, r.day::date, r.workflow_id, r.outcome, r.bucket, r.runs
    from (${runsOf(ctx, day, day)}) r on conflict do nothing`)
}

/** The runs that ended from one day to another. */
function runsOf(ctx: ServiceContext, from: string, to: string, workflowId?: string): SQL {
  return sql`
    select (r.end_time at time zone 'UTC')::date::text as day, r.workflow_id, r.outcome,
      ${bucketOf(sql`r.start_time`, sql`r.end_time`)} as bucket, count(*)::int as runs
    from ${runs} r
    where r.tenant_id = ${ctx.tenantId} and r.end_time is not null and ${within(sql`r.end_time`, from, to)}
      and r.started_via <> 'test' and r.outcome is not null ${only(workflowId)}
    group by 1, 2, 3, 4`
}

/** The tasks that people answered from one day to another. */
function waitsOf(ctx: ServiceContext, from: string, to: string, workflowId?: string): SQL {
  return sql`
    select r.workflow_id, p.step_id, ${bucketOf(sql`p.created_at`, sql`p.answered_at`)} as bucket, count(*)::int as answers
    from ${pauses} p join ${runs} r on r.tenant_id = p.tenant_id and r.id = p.run_id
    where p.tenant_id = ${ctx.tenantId} and p.answer is not null and p.signal is not null
      and ${within(sql`p.answered_at`, from, to)} and r.started_via <> 'test' ${only(workflowId)}
    group by 1, 2, 3`
}

const within = (time: SQL, from: string, to: string) =>
  sql`${time} >= ${`${from}T00:00:00Z`}::timestamptz and ${time} < ${`${to}T00:00:00Z`}::timestamptz + interval '1 day'`

const only = (workflowId: string | undefined) =>
  workflowId === undefined ? sql`` : sql`and r.workflow_id = ${workflowId}`

/** The counts of counted days and, counted now, of the live ones. */
export async function readRunCounts(
  ctx: ServiceContext,
  { days, live, workflowId }: { days: string[]; live: string[]; workflowId?: string | undefined },
): Promise<RunCount[]> {
  const counted = ctx.db
    .select({
      day: runDays.day,
      workflowId: runDays.workflowId,
      outcome: runDays.outcome,
      bucket: runDays.bucket,
      runs: runDays.runs,
    })
    .from(runDays)
    .where(
      and(
        eq(runDays.tenantId, ctx.tenantId),
        gte(runDays.day, days.at(-1) ?? ''),
        lt(runDays.day, live.at(-1) ?? '9999-12-31'),
        workflowId === undefined ? undefined : eq(runDays.workflowId, workflowId),
      ),
    )
    .orderBy(desc(runDays.day))
  const [from, to] = [live.at(-1), live[0]]
  if (from === undefined || to === undefined) return counted
  const [past, rows] = await Promise.all([counted, ctx.db.execute(runsOf(ctx, from, to, workflowId))])
  return [
    ...past,
    ...rows.map((row) => ({
      day: String(row.day),
      workflowId: String(row.workflow_id),
      outcome: String(row.outcome),
      bucket: Number(row.bucket),
      runs: Number(row.runs),
    })),
  ]
}

/** How long people's tasks waited, summed over the days. */
export async function readWaitCounts(
  ctx: ServiceContext,
  { days, live, workflowId }: { days: string[]; live: string[]; workflowId?: string | undefined },
): Promise<WaitCount[]> {
  const counted = ctx.db
    .select({
      workflowId: waitDays.workflowId,
      stepId: waitDays.stepId,
      bucket: waitDays.bucket,
      answers: sql<number>`sum(${waitDays.answers})::int`,
    })
    .from(waitDays)
    .where(
      and(
        eq(waitDays.tenantId, ctx.tenantId),
        gte(waitDays.day, days.at(-1) ?? ''),
        lt(waitDays.day, live.at(-1) ?? '9999-12-31'),
        workflowId === undefined ? undefined : eq(waitDays.workflowId, workflowId),
      ),
    )
    .groupBy(waitDays.workflowId, waitDays.stepId, waitDays.bucket)
  const [from, to] = [live.at(-1), live[0]]
  if (from === undefined || to === undefined) return counted
  const [past, rows] = await Promise.all([counted, ctx.db.execute(waitsOf(ctx, from, to, workflowId))])
  return [
    ...past,
    ...rows.map((row) => ({
      workflowId: String(row.workflow_id),
      stepId: String(row.step_id),
      bucket: Number(row.bucket),
      answers: Number(row.answers),
    })),
  ]
}
