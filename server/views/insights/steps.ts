import { and, desc, eq, ne, type SQL, sql } from 'drizzle-orm'
import { pauses, runs, stepRecords } from '@/db/schema/runs'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import type { Layout } from '../../definition/layout'
import type { One } from '../../versioned/noun'
import { findRow } from '../../versioned/rows'
import { WORKFLOW } from '../../workflows/noun'
import { NUMBER_OF_RUN } from '../workflows/numbers'
import { bucketOf, longestOf } from './buckets'
import { type Waits, waitsOf } from './figures'
import type { WaitCount } from './read-counts'
import { readWaiting } from './waiting'

/** Reads this many of the newest runs, and this many steps of each. */
const RUNS = 200
const STEPS_EACH = 200

export interface StepFigures {
  stepId: string
  /** Ended visits; 0 while all are running. */
  visits: number
  failed: number
  p50: number
  p95: number
  /** Of agent steps: tokens of all visits, and their cost if the models have prices. */
  tokens: number | null
  cost: number | null
  /** Of people's steps: how long tasks waited for an answer, and how many are waiting now, in all runs. */
  wait: Waits | null
}

export interface StepsOfRuns {
  /** Null without runs. */
  version: number | null
  /** As shown to people; null for a draft. */
  number: number | null
  /** The number of runs examined. */
  runs: number
  /** The steps' positions in the editor. */
  layout: Layout
  steps: StepFigures[]
}

/**
 * The figures of each step in a workflow's newest runs, for the heat map of its graph. Only of the newest version that
 * was run; excludes tests of drafts.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function readStepFigures(ctx: ServiceContext, { id }: One): Promise<StepsOfRuns> {
  authorize(ctx, 'run:read')
  const { layout } = await findRow(ctx, WORKFLOW, id)
  const of = and(eq(runs.tenantId, ctx.tenantId), eq(runs.workflowId, id), ne(runs.startedVia, 'test'))
  const [newest] = await ctx.db
    .select({ version: runs.workflowVersion, number: NUMBER_OF_RUN })
    .from(runs)
    .where(of)
    .orderBy(desc(runs.workflowVersion))
    .limit(1)
  if (!newest) return { version: null, number: null, runs: 0, layout, steps: [] }
  const looked = await ctx.db
    .select({ id: runs.id })
    .from(runs)
    .where(and(of, eq(runs.workflowVersion, newest.version)))
    .orderBy(desc(runs.startTime))
    .limit(RUNS)
  const ids = sql.join(
    looked.map((run) => sql`${run.id}`),
    sql`, `,
  )
  const stepRows = ctx.db.execute(sql`
    select s.step_id, count(s.end_time)::int as visits, (count(*) filter (where s.status = 'failed'))::int as failed,
      percentile_disc(array[0.5, 0.95]) within group (order by extract(epoch from s.end_time - s.start_time) * 1000) as spread,
      sum((s.usage->'usage'->>'totalTokens')::float8) as tokens, sum((s.usage->>'cost')::float8) as cost
    from unnest(array[${ids}]::text[]) as chosen(id)
    cross join lateral (
      select step_id, status, start_time, end_time, usage from ${stepRecords}
      where tenant_id = ${ctx.tenantId} and run_id = chosen.id order by seq limit ${STEPS_EACH}
    ) s
    group by 1 order by 1`)
  const [rows, answered, waiting] = await Promise.all([stepRows, readAnswers(ctx, ids), readWaiting(ctx, id)])
  return {
    version: newest.version,
    number: newest.number,
    runs: looked.length,
    layout,
    steps: rows.map((row) => {
      const [p50 = 0, p95 = 0] = ((row.spread ?? []) as unknown[]).map(Number)
      const here = ({ stepId }: { stepId: string }) => stepId === row.step_id
      const wait = waitsOf(answered.filter(here), waiting.filter(here))
      return {
        stepId: String(row.step_id),
        visits: Number(row.visits),
        failed: Number(row.failed),
        p50: Math.round(p50),
        p95: Math.round(p95),
        tokens: row.tokens === null ? null : Number(row.tokens),
        cost: row.cost === null ? null : Number(row.cost),
        wait: wait.answers + wait.waiting === 0 ? null : wait,
      }
    }),
  }
}

/** The people's answers in these runs. */
async function readAnswers(
  ctx: ServiceContext,
  ids: SQL,
): Promise<Pick<WaitCount, 'stepId' | 'bucket' | 'answers' | 'longest'>[]> {
  const rows = await ctx.db.execute(sql`
    select p.step_id, ${bucketOf(sql`p.created_at`, sql`p.answered_at`)} as bucket, count(*)::int as answers,
      ${longestOf(sql`p.created_at`, sql`p.answered_at`)} as longest
    from unnest(array[${ids}]::text[]) as chosen(id)
    cross join lateral (
      select step_id, created_at, answered_at from ${pauses}
      where tenant_id = ${ctx.tenantId} and run_id = chosen.id and answer is not null and signal is not null
        and answer->'due' is null
      limit ${STEPS_EACH}
    ) p
    group by 1, 2`)
  return rows.map((row) => ({
    stepId: String(row.step_id),
    bucket: Number(row.bucket),
    answers: Number(row.answers),
    longest: Number(row.longest),
  }))
}
