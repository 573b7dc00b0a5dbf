import { type SQL, sql } from 'drizzle-orm'
import { pauses, runs, stepRecords } from '@/db/schema/runs'
import { threads } from '@/db/schema/threads'
import type { ServiceContext } from '../../context'
import { bucketOf, longestOf } from './buckets'

/** Whole days, first and last inclusive, optionally for one workflow only. */
export interface Span {
  from: string
  to: string
  workflowId?: string | undefined
}

/** The runs that ended. */
export function countRuns(ctx: ServiceContext, span: Span): SQL {
  return sql`
    select ${dayOf(sql`r.end_time`)} as day, r.workflow_id, r.outcome,
      ${bucketOf(sql`r.start_time`, sql`r.end_time`)} as bucket, count(*)::int as runs,
      ${longestOf(sql`r.start_time`, sql`r.end_time`)} as longest
    from ${runs} r
    where r.tenant_id = ${ctx.tenantId} and r.end_time is not null and ${within(sql`r.end_time`, span)}
      and r.started_via <> 'test' and r.outcome is not null ${only(span.workflowId)}
    group by 1, 2, 3, 4`
}

/** The tasks that people answered; not those whose time was up. */
export function countAnswers(ctx: ServiceContext, span: Span): SQL {
  return sql`
    select ${dayOf(sql`p.answered_at`)} as day, r.workflow_id, p.step_id,
      ${bucketOf(sql`p.created_at`, sql`p.answered_at`)} as bucket, count(*)::int as answers,
      ${longestOf(sql`p.created_at`, sql`p.answered_at`)} as longest
    from ${pauses} p cross join lateral (${runOf(ctx, sql`p.run_id`, span.workflowId)}) r
    where p.tenant_id = ${ctx.tenantId} and p.answer is not null and p.signal is not null and p.answer->'due' is null
      and ${within(sql`p.answered_at`, span)}
    group by 1, 2, 3, 4`
}

/**
 * Agents' answers in runs, and their usage; failed turns have usage too. An answer counts on the day of its end, if its
 * step took at most a day: the index knows only start times, because end times change with every step. Copies in runs
 * that continue others are not counted again.
 */
export function countAgents(ctx: ServiceContext, span: Span): SQL {
  const begun = sql`s.start_time >= ${`${span.from}T00:00:00Z`}::timestamptz - interval '1 day'
    and s.start_time < ${`${span.to}T00:00:00Z`}::timestamptz + interval '1 day'`
  // The thread may be deleted by now, and the input may be large.
  const agent = sql`coalesce(
    (select t.agent_id from ${threads} t where t.tenant_id = ${ctx.tenantId} and t.id = s.usage->>'threadId'),
    s.input_data->>'agentId', '')`
  return sql`
    select ${dayOf(sql`s.end_time`)} as day, r.workflow_id, ${agent} as agent_id,
      count(*) filter (where s.status = 'completed')::int as answers,
      coalesce(sum((s.usage->'usage'->>'inputTokens')::bigint), 0)::bigint as input_tokens,
      coalesce(sum((s.usage->'usage'->>'outputTokens')::bigint), 0)::bigint as output_tokens,
      count(s.usage->>'cost') filter (where s.status = 'completed')::int as priced, coalesce(sum((s.usage->>'cost')::float8), 0)::float8 as cost
    from ${stepRecords} s cross join lateral (${runOf(ctx, sql`s.run_id`, span.workflowId)}) r
    where s.tenant_id = ${ctx.tenantId} and s.usage is not null and ${begun} and ${within(sql`s.end_time`, span)}
      and s.start_time >= r.start_time
    group by 1, 2, 3`
}

/**
 * The run with this id, unless it is a test. The limit makes Postgres look it up by key: on partitioned tables it
 * overestimates a lookup's cost and would read all runs instead.
 */
export function runOf(ctx: ServiceContext, id: SQL, workflowId: string | undefined): SQL {
  return sql`
    select r.workflow_id, r.start_time from ${runs} r
    where r.tenant_id = ${ctx.tenantId} and r.id = ${id} and r.started_via <> 'test' ${only(workflowId)} limit 1`
}

const dayOf = (time: SQL) => sql`(${time} at time zone 'UTC')::date::text`

const within = (time: SQL, { from, to }: Span) =>
  sql`${time} >= ${`${from}T00:00:00Z`}::timestamptz and ${time} < ${`${to}T00:00:00Z`}::timestamptz + interval '1 day'`

const only = (workflowId: string | undefined) =>
  workflowId === undefined ? sql`` : sql`and r.workflow_id = ${workflowId}`
