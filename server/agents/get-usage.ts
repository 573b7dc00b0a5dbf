import { type AnyColumn, and, between, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { usageDays } from '@/db/schema/usage'
import { utcDay } from '@/lib/utc-day'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { parseWhole } from '../parse'

const MAX = 1_000
const DAY_MS = 86_400_000
/** As many days as are kept. */
const MAX_DAYS = 400

const Day = z.iso.date()

/** The query string of the usage. */
export const ReadUsage = z.object({
  from: Day.optional().describe('The first day (UTC), 30 days ago by default.'),
  to: Day.optional().describe('The last day (UTC), today by default.'),
  by: z
    .enum(['day', 'agent', 'subject'])
    .default('day')
    .describe('One entry for each day, for each agent or for each subject of tokens.'),
})

/**
 * What model calls of agents have used: by day in order, else the largest first, at most 1,000. The token of a subject
 * gets only its own.
 * @throws AppError INVALID_INPUT
 */
export async function getUsage(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'agent:read')
  const query = parseWhole(ReadUsage, input)
  const { by } = query
  const { from, to } = periodOf(ctx, query)
  const { tenantId, day, kind, key, calls, input: ins, cached, output, cost } = usageDays
  const own = ctx.actor.kind === 'jwt' ? ctx.actor.id : null
  const wanted = by === 'day' ? (own === null ? 'workspace' : 'subject') : by
  const name = by === 'day' ? sql<string>`${day}::text` : sql<string>`${key}`
  const sum = (of: AnyColumn) => sql<number>`sum(${of})::float8`
  const rows = await ctx.db
    .select({
      key: name,
      ...{ calls: sum(calls), inputTokens: sum(ins), cachedTokens: sum(cached), outputTokens: sum(output) },
      cost: sql<number>`sum(${cost})`,
    })
    .from(usageDays)
    .where(
      and(
        ...[eq(tenantId, ctx.tenantId), eq(kind, wanted), between(day, from, to)],
        own === null ? undefined : eq(key, own),
      ),
    )
    .groupBy(name)
    .orderBy(by === 'day' ? name : sql`sum(${ins} + ${output}) desc, ${name}`)
    .limit(MAX)
  // Sums of floating point numbers have errors in the last places.
  return { from, to, by, usage: rows.map((row) => ({ ...row, cost: Number(row.cost.toPrecision(12)) })) }
}

function periodOf(ctx: ServiceContext, { from, to }: z.output<typeof ReadUsage>): { from: string; to: string } {
  const last = to ?? utcDay(ctx.now())
  const first = from ?? utcDay(new Date(Date.parse(last) - 29 * DAY_MS))
  const days = (Date.parse(last) - Date.parse(first)) / DAY_MS
  if (days >= 0 && days <= MAX_DAYS) return { from: first, to: last }
  const message = days < 0 ? 'must not be before from' : `must be at most ${MAX_DAYS} days after from`
  throw new AppError('INVALID_INPUT', { details: [{ path: 'to', message }] })
}
