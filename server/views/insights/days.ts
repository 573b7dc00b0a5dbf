import { and, eq, inArray, sql } from 'drizzle-orm'
import { agentDays, countedDays, PARTS, runDays, waitDays } from '@/db/schema/insights'
import { utcDay } from '@/lib/utc-day'
import type { ServiceContext } from '../../context'
import { countAgents, countAnswers, countRuns } from './counts'

export const DAY_MS = 24 * 60 * 60_000
/** The longest period of the insights. */
export const MAX_DAYS = 90
/** A change becomes visible only when it commits, so a day is counted this long after it ended. */
const GRACE_MS = 60 * 60_000
/** One request counts missing days for this long; the next one continues. */
const BUDGET_MS = 1_000

/** The last `count` days, newest first. */
export function lastDays(now: Date, count: number): string[] {
  return Array.from({ length: count }, (_, back) => utcDay(new Date(now.getTime() - back * DAY_MS)))
}

/**
 * Counts the days that have ended and have no count yet.
 * @returns the days without final counts: `live` ones have not ended, `later` ones did not fit into the budget
 */
export async function countDays(ctx: ServiceContext, days: string[]): Promise<{ live: string[]; later: string[] }> {
  const now = ctx.now().getTime()
  const over = days.filter((day) => Date.parse(day) + DAY_MS + GRACE_MS <= now)
  const known = await ctx.db
    .select({ day: countedDays.day })
    .from(countedDays)
    .where(and(eq(countedDays.tenantId, ctx.tenantId), inArray(countedDays.day, over), eq(countedDays.parts, PARTS)))
  const missing = over.filter((day) => !known.some((row) => row.day === day))
  const begun = performance.now()
  while (missing.length > 0 && performance.now() - begun < BUDGET_MS) await countDay(ctx, missing.shift() ?? '')
  return { live: days.filter((day) => !over.includes(day)), later: missing }
}

/**
 * Counts all days that insights can show, before their runs are deleted.
 * @returns whether all fitted into the budget
 */
export async function countAllDays(ctx: ServiceContext): Promise<boolean> {
  return (await countDays(ctx, lastDays(ctx.now(), MAX_DAYS))).later.length === 0
}

/**
 * Two processes may count the same day and get the same result. A day that was counted in fewer parts keeps those
 * counts, because its runs may have been deleted since.
 */
async function countDay(ctx: ServiceContext, day: string): Promise<void> {
  const span = { from: day, to: day }
  await ctx.db.execute(sql`
    with marked as (
      insert into ${countedDays} (tenant_id, day, parts) values (${ctx.tenantId}, ${day}, ${PARTS})
      on conflict (tenant_id, day) do update set parts = excluded.parts
    ), waited as (
      insert into ${waitDays} (tenant_id, day, workflow_id, step_id, bucket, answers, longest)
      select ${ctx.tenantId}, w.day::date, w.workflow_id, w.step_id, w.bucket, w.answers, w.longest
      from (${countAnswers(ctx, span)}) w on conflict do nothing
    ), answered as (
      insert into ${agentDays} (tenant_id, day, workflow_id, agent_id, answers, input_tokens, output_tokens, priced, cost)
      select ${ctx.tenantId}, a.day::date, a.workflow_id, a.agent_id, a.answers, a.input_tokens, a.output_tokens, a.priced, a.cost
      from (${countAgents(ctx, span)}) a on conflict do nothing
    )
    insert into ${runDays} (tenant_id, day, workflow_id, outcome, bucket, runs, longest)
    select ${ctx.tenantId}, r.day::date, r.workflow_id, r.outcome, r.bucket, r.runs, r.longest
    from (${countRuns(ctx, span)}) r on conflict do nothing`)
}
