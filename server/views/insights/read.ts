import { and, eq, inArray } from 'drizzle-orm'
import { z } from 'zod'
import { workflows, workflowVersions } from '@/db/schema/workflows'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { isId } from '../../ids'
import { parseInput } from '../../parse'
import { tenantMasker } from '../../vault/masker'
import { findRow } from '../../versioned/rows'
import { WORKFLOW } from '../../workflows/noun'
import { addTo, percentile, type Spread } from './buckets'
import { countDays, lastDays, MOST_DAYS, type RunCount, readRunCounts, readWaitCounts } from './days'
import { readWaiting } from './waiting'

const ReadInsights = z.object({
  /** Of one workflow, or of the whole workspace. */
  workflowId: z.string().refine(isId, 'is not an id').optional(),
  days: z.union([z.literal(7), z.literal(30), z.literal(MOST_DAYS)]),
})
export type ReadInsights = z.input<typeof ReadInsights>

/** Figures of runs that ended. Durations are in ms, and null without runs. */
export interface Figures {
  succeeded: number
  failed: number
  /** Cancelled or terminated. */
  stopped: number
  /** Half of the runs that succeeded took at most so long, and ... */
  p50: number | null
  /** ... nineteen of twenty. */
  p95: number | null
}

export interface Insights {
  /** Every day of the period, the oldest first, in UTC. */
  days: (Figures & { day: string })[]
  total: Figures
  /** In the workspace's insights: the workflows with most runs. */
  workflows: (Figures & { id: string; name: string })[]
  /** The steps at which people's tasks waited longest altogether. */
  waits: {
    workflowId: string
    workflowName: string
    stepId: string
    stepName: string
    answers: number
    p50: number | null
    p95: number | null
    /** Tasks that wait now, and since when the oldest does. */
    waiting: number
    since: string | null
  }[]
  /** Past days that are not counted yet; the next read counts more of them. */
  uncounted: number
}

const MOST_ROWS = 50

/**
 * Volume, failures and durations of runs, and people's waiting time. Tests of drafts are left out.
 * @throws AppError INVALID_INPUT, WORKFLOW_NOT_FOUND
 */
export async function readInsights(ctx: ServiceContext, input: unknown): Promise<Insights> {
  authorize(ctx, 'run:read')
  const { workflowId, days: count } = parseInput(ReadInsights, input)
  if (workflowId !== undefined) await findRow(ctx, WORKFLOW, workflowId)
  const days = lastDays(ctx.now(), count)
  const { live, later } = await countDays(ctx, days)
  const period = { days, live, workflowId }
  const [counts, answered, waiting] = await Promise.all([
    readRunCounts(ctx, period),
    readWaitCounts(ctx, period),
    readWaiting(ctx, workflowId),
  ])
  const byDay = groupBy(counts, ({ day }) => day)
  const byWorkflow = workflowId === undefined ? groupBy(counts, (row) => row.workflowId) : new Map<string, RunCount[]>()
  const busiest = [...byWorkflow]
    .map(([id, rows]) => ({ id, ...figuresOf(rows) }))
    .sort((a, b) => sumOf(b) - sumOf(a))
    .slice(0, MOST_ROWS)
  const key = (row: { workflowId: string; stepId: string }) => `${row.workflowId} ${row.stepId}`
  const answers = groupBy(answered, key)
  const open = new Map(waiting.map((row) => [key(row), row]))
  const steps = [...new Set([...answers.keys(), ...open.keys()])]
    .map((place) => {
      const rows = answers.get(place) ?? []
      const spread: Spread = new Map()
      for (const { bucket, answers: more } of rows) addTo(spread, bucket, more)
      const [id = '', stepId = ''] = place.split(' ')
      const total = rows.reduce((sum, row) => sum + row.answers, 0)
      const { count: now = 0, since = null } = open.get(place) ?? {}
      const [p50, p95] = [percentile(spread, 0.5), percentile(spread, 0.95)]
      return { workflowId: id, stepId, answers: total, p50, p95, waiting: now, since }
    })
    .sort((a, b) => (b.p50 ?? 0) * b.answers - (a.p50 ?? 0) * a.answers || b.waiting - a.waiting)
    .slice(0, MOST_ROWS)
  const names = await namesOf(ctx, [...busiest.map(({ id }) => id), ...steps.map((step) => step.workflowId)])
  return {
    days: days.toReversed().map((day) => ({ day, ...figuresOf(byDay.get(day) ?? []) })),
    total: figuresOf(counts),
    workflows: busiest.map((row) => ({ ...row, name: names.workflow(row.id) })),
    waits: steps.map((step) => ({
      ...step,
      workflowName: names.workflow(step.workflowId),
      stepName: names.step(step.workflowId, step.stepId),
    })),
    uncounted: later.length,
  }
}

const sumOf = ({ succeeded, failed, stopped }: Figures) => succeeded + failed + stopped

function figuresOf(rows: readonly RunCount[]): Figures {
  const spread: Spread = new Map()
  const counts = { succeeded: 0, failed: 0, stopped: 0 }
  for (const { outcome, bucket, runs } of rows) {
    if (outcome === 'succeeded') addTo(spread, bucket, runs)
    const kind =
      outcome === 'succeeded' ? 'succeeded' : outcome === 'failed' || outcome === 'timed_out' ? 'failed' : 'stopped'
    counts[kind] += runs
  }
  return { ...counts, p50: percentile(spread, 0.5), p95: percentile(spread, 0.95) }
}

function groupBy<T>(rows: readonly T[], key: (row: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const row of rows) {
    const group = groups.get(key(row))
    if (group) group.push(row)
    else groups.set(key(row), [row])
  }
  return groups
}

/** The names of workflows and of their steps as of now. Deleted ones are shown by their id. */
async function namesOf(ctx: ServiceContext, ids: string[]) {
  const wanted = [...new Set(ids)]
  const [rows, masker] = await Promise.all([
    ctx.db
      .select({ id: workflows.id, name: workflows.name, definition: workflowVersions.definition })
      .from(workflows)
      .innerJoin(
        workflowVersions,
        and(
          eq(workflowVersions.tenantId, workflows.tenantId),
          eq(workflowVersions.workflowId, workflows.id),
          eq(workflowVersions.version, workflows.version),
        ),
      )
      .where(and(eq(workflows.tenantId, ctx.tenantId), inArray(workflows.id, wanted))),
    tenantMasker(ctx),
  ])
  const known = new Map(rows.map((row) => [row.id, row]))
  return {
    workflow: (id: string) => masker.text(known.get(id)?.name ?? id),
    step: (id: string, stepId: string) => {
      const step = known.get(id)?.definition.steps.find((one) => one.id === stepId)
      return masker.text(typeof step?.name === 'string' && step.name !== '' ? step.name : stepId)
    },
  }
}
