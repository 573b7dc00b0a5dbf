import { type AnyColumn, and, desc, eq, inArray, sql } from 'drizzle-orm'
import { usageDays } from '@/db/schema/usage'
import type { ServiceContext } from '../../context'
import { type CallSums, groupBy, type Spent, spentIn } from './figures'

const { tenantId, day, kind, key, calls, input, output, cost } = usageDays
const sum = (of: AnyColumn) => sql<number>`sum(${of})::float8`
const SUMS = { count: sum(calls), inputTokens: sum(input), outputTokens: sum(output), cost: sum(cost) }

/**
 * What calls of models have used, wherever their agents were called: in all, by day, and by agent, the most expensive
 * agents first.
 * @param days oldest first
 * @param listed how many agents; the first `charted` of them with their days
 */
export async function readCalls(ctx: ServiceContext, days: string[], listed: number, charted: number) {
  const [ofDays, agents] = await Promise.all([
    ctx.db
      .select({ day, ...SUMS })
      .from(usageDays)
      .where(counted(ctx, days, 'workspace'))
      .groupBy(day),
    ctx.db
      .select({ id: key, ...SUMS })
      .from(usageDays)
      .where(counted(ctx, days, 'agent'))
      .groupBy(key)
      .orderBy(desc(SUMS.cost), sql`sum(${input} + ${output}) desc`, key)
      .limit(listed),
  ])
  const first = agents.slice(0, charted).map(({ id }) => id)
  const ofFirst = await ctx.db
    .select({ id: key, day, ...SUMS })
    .from(usageDays)
    .where(and(counted(ctx, days, 'agent'), inArray(key, first)))
    .groupBy(key, day)
  const byAgent = groupBy(ofFirst, ({ id }) => id)
  return {
    spent: spentIn(ofDays),
    spentDays: eachDay(days, ofDays).map((sums, at) => ({ day: days[at] ?? '', ...sums })),
    agents: agents.map(({ id, ...sums }) => {
      const own = byAgent.get(id)
      return { id, ...spentIn([sums]), days: own ? eachDay(days, own) : [] }
    }),
  }
}

const counted = (ctx: ServiceContext, days: string[], of: 'workspace' | 'agent') =>
  and(eq(tenantId, ctx.tenantId), inArray(day, days), eq(kind, of))

function eachDay(days: string[], rows: (CallSums & { day: string })[]): Spent[] {
  const byDay = groupBy(rows, (row) => row.day)
  return days.map((day) => spentIn(byDay.get(day) ?? []))
}
