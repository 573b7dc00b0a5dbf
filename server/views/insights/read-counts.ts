import { and, eq, gte, lt, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { agentDays, runDays, waitDays } from '@/db/schema/insights'
import type { ServiceContext } from '../../context'
import { countAgents, countAnswers, countRuns, type Span } from './counts'

/** The days to read, newest first, and those of them without final counts. */
export interface Period {
  days: string[]
  live: string[]
  workflowId?: string | undefined
}

export interface RunCount {
  outcome: string
  bucket: number
  runs: number
  /** The longest of them, in ms; null where an earlier version counted. */
  longest: number | null
}
export interface WaitCount {
  day: string
  workflowId: string
  stepId: string
  bucket: number
  answers: number
  /** The longest wait of them, in ms; null where an earlier version counted. */
  longest: number | null
}
export interface AgentCount {
  day: string
  workflowId: string
  agentId: string
  answers: number
  inputTokens: number
  outputTokens: number
  /** The answers of models with a price ... */
  priced: number
  /** ... and their cost. */
  cost: number
}

/**
 * Runs by outcome and duration, per day and per workflow. Postgres adds them up: the combinations of day, workflow and
 * duration are several times as many rows.
 */
export async function readRunCounts(
  ctx: ServiceContext,
  period: Period,
): Promise<{ days: Map<string, RunCount[]>; workflows: Map<string, RunCount[]> }> {
  const { day, workflowId, outcome, bucket, runs, longest } = runDays
  const summed = ctx.db
    .select({
      day: sql<string | null>`${day}::text`.as('of_day'),
      workflowId,
      outcome,
      bucket,
      runs: sql<number>`sum(${runs})::int`.as('sum_of_runs'),
      // Unknown, if it is unknown of one day.
      longest: sql<number | null>`case when count(${longest}) = count(*) then max(${longest}) end`.as('longest_of_all'),
    })
    .from(runDays)
    .where(counts(ctx, period, runDays))
    .groupBy(sql`grouping sets ((${day}, ${outcome}, ${bucket}), (${workflowId}, ${outcome}, ${bucket}))`)
    .as('summed')
  // Many buckets per row: reading a row costs more than reading its content.
  const past = ctx.db
    .select({
      day: summed.day,
      workflowId: summed.workflowId,
      outcome: summed.outcome,
      buckets: sql<
        Record<string, [runs: number, longest: number | null]>
      >`json_object_agg(${summed.bucket}, json_build_array(${summed.runs}, ${summed.longest}))`,
    })
    .from(summed)
    .groupBy(summed.day, summed.workflowId, summed.outcome)
  const [counted, live] = await Promise.all([past, readLive(ctx, period, countRuns)])
  const found = { days: new Map<string, RunCount[]>(), workflows: new Map<string, RunCount[]>() }
  const add = (groups: Map<string, RunCount[]>, key: string, count: RunCount) => {
    const group = groups.get(key)
    if (group) group.push(count)
    else groups.set(key, [count])
  }
  for (const { day, workflowId, outcome, buckets } of counted) {
    const [groups, key] = day === null ? [found.workflows, workflowId] : [found.days, day]
    for (const [bucket, [runs, longest]] of Object.entries(buckets))
      add(groups, key, { outcome, bucket: Number(bucket), runs, longest })
  }
  for (const row of live) {
    const { outcome, bucket, runs, longest } = row
    const count = { outcome: String(outcome), bucket: Number(bucket), runs: Number(runs), longest: Number(longest) }
    add(found.days, String(row.day), count)
    add(found.workflows, String(row.workflow_id), count)
  }
  return found
}

/** Answered tasks by day, step and waiting time. */
export async function readWaitCounts(ctx: ServiceContext, period: Period): Promise<WaitCount[]> {
  const { day, workflowId, stepId, bucket, answers, longest } = waitDays
  const past = ctx.db.select({ day, workflowId, stepId, bucket, answers, longest }).from(waitDays)
  const [counted, live] = await Promise.all([
    past.where(counts(ctx, period, waitDays)),
    readLive(ctx, period, countAnswers),
  ])
  return [
    ...counted,
    ...live.map((row) => ({
      day: String(row.day),
      workflowId: String(row.workflow_id),
      stepId: String(row.step_id),
      bucket: Number(row.bucket),
      answers: Number(row.answers),
      longest: Number(row.longest),
    })),
  ]
}

/** Agents' answers in runs, by day and agent. */
export async function readAgentCounts(ctx: ServiceContext, period: Period): Promise<AgentCount[]> {
  const { day, workflowId, agentId, answers, inputTokens, outputTokens, priced, cost } = agentDays
  const past = ctx.db
    .select({ day, workflowId, agentId, answers, inputTokens, outputTokens, priced, cost })
    .from(agentDays)
  const [counted, live] = await Promise.all([
    past.where(counts(ctx, period, agentDays)),
    readLive(ctx, period, countAgents),
  ])
  return [
    ...counted,
    ...live.map((row) => ({
      day: String(row.day),
      workflowId: String(row.workflow_id),
      agentId: String(row.agent_id),
      answers: Number(row.answers),
      inputTokens: Number(row.input_tokens),
      outputTokens: Number(row.output_tokens),
      priced: Number(row.priced),
      cost: Number(row.cost),
    })),
  ]
}

/** The stored counts. */
function counts(
  ctx: ServiceContext,
  { days, live, workflowId }: Period,
  table: { tenantId: PgColumn; day: PgColumn; workflowId: PgColumn },
): SQL | undefined {
  return and(
    eq(table.tenantId, ctx.tenantId),
    gte(table.day, days.at(-1) ?? ''),
    lt(table.day, live.at(-1) ?? '9999-12-31'),
    workflowId === undefined ? undefined : eq(table.workflowId, workflowId),
  )
}

/** The counts of the live days. */
async function readLive(
  ctx: ServiceContext,
  { live, workflowId }: Period,
  count: (ctx: ServiceContext, span: Span) => SQL,
): Promise<Record<string, unknown>[]> {
  const [from, to] = [live.at(-1), live[0]]
  return from === undefined || to === undefined ? [] : await ctx.db.execute(count(ctx, { from, to, workflowId }))
}
