import { type SQL, sql } from 'drizzle-orm'
import { agentTurns } from '@/db/schema/turns'
import { usageDays } from '@/db/schema/usage'
import { utcDay } from '@/lib/utc-day'
import type { ServiceContext, Sweep } from '../context'
import type { Tokens } from '../models/prices'

/** How long the usage of a day is kept. */
const KEEP_DAYS = 400

/** What the workspace, the agent or the subject has used today. */
export type DaySum = Used & { kind: 'workspace' | 'agent' | 'subject' }

/** The cost is in US dollars, of the calls whose price is known. */
export type Used = { tokens: number; cost: number }

/**
 * The subject of tokens for whom the caller acts; null for members, keys and the product's own starters. A run acts for
 * its starter.
 */
export function subjectOfUsage({ actor }: ServiceContext): string | null {
  const isSubject = actor.kind === 'jwt' || (actor.kind === 'system' && actor.startedVia === 'jwt')
  return isSubject ? actor.id : null
}

/** The rows that a call of the agent counts in. */
function placesOf(ctx: ServiceContext, agentId: string): SQL {
  const subject = subjectOfUsage(ctx)
  const ofSubject = subject === null ? sql`` : sql`, ('subject', ${subject})`
  return sql`(values ('agent', ${agentId}), ('workspace', '')${ofSubject}) k(kind, key)`
}

/**
 * Adds to the usage of the day, as part of a statement; rows in one order, so that two statements cannot block each other.
 * @param used a table with `calls`, `input`, `cached`, `output` and `cost`, in one row or none
 */
export function addUsageOf(ctx: ServiceContext, agentId: string, used: SQL): SQL {
  return sql`
    insert into ${usageDays} as d (tenant_id, day, kind, key, calls, input, cached, output, cost)
    select ${ctx.tenantId}, ${utcDay(ctx.now())}::date, k.kind, k.key, u.calls, u.input, u.cached, u.output, u.cost
    from ${used} u cross join ${placesOf(ctx, agentId)} order by k.kind, k.key
    on conflict (tenant_id, day, kind, key) do update set calls = d.calls + excluded.calls,
      input = d.input + excluded.input, cached = d.cached + excluded.cached, output = d.output + excluded.output,
      cost = d.cost + excluded.cost
    returning kind, (input + output)::float8 as tokens, cost`
}

/** Counts one call of a model that no journal records. @returns the sums with it */
export async function countUsage(
  ctx: ServiceContext,
  agentId: string,
  { input, cached, output }: Tokens,
  cost: number | null,
): Promise<DaySum[]> {
  const used = sql`(values (1, ${input}::bigint, ${cached}::bigint, ${output}::bigint, ${cost ?? 0}::float8))`
  const rows = await ctx.db.execute<DaySum>(
    addUsageOf(ctx, agentId, sql`(select * from ${used} v(calls, input, cached, output, cost))`),
  )
  return [...rows]
}

/** The sums of today. */
export async function readDay(ctx: ServiceContext, agentId: string): Promise<DaySum[]> {
  const rows = await ctx.db.execute<DaySum>(sql`
    select d.kind, (d.input + d.output)::float8 as tokens, d.cost from ${usageDays} d
    join ${placesOf(ctx, agentId)} on k.kind = d.kind and k.key = d.key
    where d.tenant_id = ${ctx.tenantId} and d.day = ${utcDay(ctx.now())}::date`)
  return [...rows]
}

/** What the turns of a run have used, apart from one. */
export async function readRun(ctx: ServiceContext, runId: string, turnId: string): Promise<Used> {
  const [used] = await ctx.db.execute<Used>(sql`
    select coalesce(sum((usage->>'totalTokens')::bigint), 0)::float8 as tokens, coalesce(sum(cost), 0) as cost
    from ${agentTurns} where tenant_id = ${ctx.tenantId} and run_id = ${runId} and id <> ${turnId}`)
  return used ?? { tokens: 0, cost: 0 }
}

/** Deletes the usage of days that are too old. */
export async function sweepUsage({ db, now }: Sweep): Promise<void> {
  await db.execute(sql`delete from ${usageDays} where day < ${utcDay(now())}::date - ${KEEP_DAYS}::int`)
}
