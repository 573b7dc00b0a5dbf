import { and, asc, count, desc, eq, getTableColumns, inArray, ne, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { z } from 'zod'
import { runs } from '@/db/schema/runs'
import { workflows, workflowVersions } from '@/db/schema/workflows'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { diffDefinitions, sizeOfDiff } from '../../definition/diff'
import { parseInput } from '../../parse'
import { hasText, SearchText } from '../../query/search-text'
import { presentItem } from '../../versioned/present'
import { nameActors } from '../actors'
import { type RunState, stateOf } from '../runs/filter'
import { PUBLISHED_NUMBER } from './numbers'

const DEFAULT_LIMIT = 25
const MAX_LIMIT = 100

/** A page of the dashboard's workflow list. */
export const BrowseWorkflows = z.object({
  q: SearchText.optional(),
  status: z.enum(['draft', 'published']).optional(),
  /** Only archived workflows. */
  archived: z.boolean().optional(),
  sort: z.enum(['updated', 'name']).optional(),
  /** Starts at 1. */
  page: z.number().int().min(1).max(1_000_000).optional(),
  limit: z.number().int().min(1).max(MAX_LIMIT).optional(),
})
export type BrowseWorkflows = z.input<typeof BrowseWorkflows>

/**
 * Workflows as the dashboard lists them: with unpublished changes, the last run, and the last author.
 * @throws AppError INVALID_INPUT
 */
export async function browseWorkflows(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'workflow:read')
  const filter = parseInput(BrowseWorkflows, input)
  const { sort = 'updated', page = 1, limit = DEFAULT_LIMIT } = filter
  const where = matches(ctx, filter)
  const order = sort === 'name' ? asc(sql`lower(${workflows.name})`) : desc(workflows.updatedAt)
  const [rows, [total]] = await Promise.all([
    ctx.db
      .select({ ...getTableColumns(workflows), publishedNumber: PUBLISHED_NUMBER })
      .from(workflows)
      .where(where)
      .orderBy(order, asc(workflows.id))
      .limit(limit)
      .offset((page - 1) * limit),
    ctx.db.select({ count: count() }).from(workflows).where(where),
  ])
  const [nameOf, changes, lastRuns] = await Promise.all([
    nameActors(
      ctx,
      rows.map(({ updatedBy }) => updatedBy),
    ),
    countUnpublished(
      ctx,
      rows.filter((row) => row.publishedVersion !== null && row.publishedVersion !== row.version).map(({ id }) => id),
    ),
    readLastRuns(
      ctx,
      rows.map(({ id }) => id),
    ),
  ])
  const items = rows.map((row) => ({
    ...presentItem(row),
    publishedNumber: row.publishedNumber,
    updatedBy: nameOf(row.updatedBy),
    /** How many changes publishing would make; also 0 if nothing is published. */
    unpublishedChanges: changes.get(row.id) ?? 0,
    lastRun: lastRuns.get(row.id) ?? null,
  }))
  return { items, total: total?.count ?? 0, page, limit }
}

export type WorkflowListItem = Awaited<ReturnType<typeof browseWorkflows>>['items'][number]

function matches(ctx: ServiceContext, { q, status, archived }: z.output<typeof BrowseWorkflows>): SQL | undefined {
  return and(
    eq(workflows.tenantId, ctx.tenantId),
    archived ? eq(workflows.status, 'archived') : status ? eq(workflows.status, status) : undefined,
    archived || status ? undefined : ne(workflows.status, 'archived'),
    q ? or(hasText(workflows.name, q), hasText(workflows.description, q), eq(workflows.id, q)) : undefined,
  )
}

/** The number of unpublished changes by workflow. Reads definitions, so only for workflows that have some. */
async function countUnpublished(ctx: ServiceContext, ids: string[]): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map()
  const live = alias(workflowVersions, 'live')
  const saved = alias(workflowVersions, 'saved')
  const rows = await ctx.db
    .select({ id: workflows.id, before: live.definition, after: saved.definition })
    .from(workflows)
    .innerJoin(
      live,
      and(
        eq(live.tenantId, workflows.tenantId),
        eq(live.workflowId, workflows.id),
        eq(live.version, workflows.publishedVersion),
      ),
    )
    .innerJoin(
      saved,
      and(
        eq(saved.tenantId, workflows.tenantId),
        eq(saved.workflowId, workflows.id),
        eq(saved.version, workflows.version),
      ),
    )
    .where(and(eq(workflows.tenantId, ctx.tenantId), inArray(workflows.id, ids)))
  return new Map(rows.map(({ id, before, after }) => [id, sizeOfDiff(diffDefinitions(before, after))]))
}

interface LastRun {
  runId: string
  state: RunState
  startTime: string
  endTime: string | null
}

/** The latest run by workflow: one index lookup per version, however many runs there are. */
async function readLastRuns(ctx: ServiceContext, ids: string[]): Promise<Map<string, LastRun>> {
  if (ids.length === 0) return new Map()
  const latest = ctx.db
    .select({
      runId: sql<string>`${runs.id}`.as('run_id'),
      status: runs.status,
      outcome: runs.outcome,
      startTime: runs.startTime,
      endTime: runs.endTime,
    })
    .from(runs)
    .where(
      and(
        eq(runs.tenantId, workflowVersions.tenantId),
        eq(runs.workflowId, workflowVersions.workflowId),
        eq(runs.workflowVersion, workflowVersions.version),
      ),
    )
    .orderBy(desc(runs.startTime))
    .limit(1)
    .as('latest')
  const rows = await ctx.db
    .selectDistinctOn([workflowVersions.workflowId], {
      workflowId: workflowVersions.workflowId,
      runId: latest.runId,
      status: latest.status,
      outcome: latest.outcome,
      startTime: latest.startTime,
      endTime: latest.endTime,
    })
    .from(workflowVersions)
    .crossJoinLateral(latest)
    .where(and(eq(workflowVersions.tenantId, ctx.tenantId), inArray(workflowVersions.workflowId, ids)))
    .orderBy(workflowVersions.workflowId, desc(latest.startTime))
  return new Map(
    rows.map(({ workflowId, runId, startTime, endTime, ...run }) => [
      workflowId,
      {
        runId,
        state: stateOf(run),
        startTime: startTime.toISOString(),
        endTime: endTime?.toISOString() ?? null,
      },
    ]),
  )
}
