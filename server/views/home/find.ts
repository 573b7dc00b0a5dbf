import { and, asc, desc, eq, inArray, ne, or, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { agents } from '@/db/schema/agents'
import { runs } from '@/db/schema/runs'
import { tools } from '@/db/schema/tools'
import { workflows } from '@/db/schema/workflows'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { parseInput } from '../../parse'
import { hasText, literal, SearchText } from '../../query/search-text'
import { tenantMasker } from '../../vault/masker'
import { idBegins, runsKeyed, stateOf } from '../runs/filter'
import { calledRun } from '../runs/run-names'

const EACH = 5

const FindAnything = z.object({ q: SearchText.refine((text) => text !== '', 'is required') })

export interface Found {
  kind: 'workflow' | 'run' | 'agent' | 'tool'
  id: string
  name: string
  /** Its state in one word. */
  state: string
}

/**
 * The things that a name or a pasted id may refer to, most recently changed first: a few of each kind, for the command
 * palette.
 * @throws AppError INVALID_INPUT
 */
export async function findAnything(ctx: ServiceContext, input: unknown): Promise<Found[]> {
  authorize(ctx, 'workflow:read')
  authorize(ctx, 'run:read')
  authorize(ctx, 'agent:read')
  authorize(ctx, 'tool:read')
  const { q } = parseInput(FindAnything, input)
  const [found, masker] = await Promise.all([
    /^run_/i.test(q) ? findRuns(ctx, idBegins(q), runs.id) : findNamed(ctx, q),
    tenantMasker(ctx),
  ])
  return found.map((one) => ({ ...one, name: masker.text(one.name) }))
}

async function findNamed(ctx: ServiceContext, q: string): Promise<Found[]> {
  const [keyed, foundWorkflows, foundAgents, foundTools] = await Promise.all([
    findKeyed(ctx, q),
    findIn(ctx, workflows, q),
    findIn(ctx, agents, q),
    findIn(ctx, tools, q),
  ])
  return [
    ...keyed,
    ...foundWorkflows.map((row) => ({ kind: 'workflow' as const, ...row })),
    ...foundAgents.map((row) => ({ kind: 'agent' as const, ...row })),
    ...foundTools.map((row) => ({ kind: 'tool' as const, ...row })),
  ]
}

function findIn(ctx: ServiceContext, table: typeof workflows | typeof agents | typeof tools, q: string) {
  return ctx.db
    .select({ id: table.id, name: table.name, state: table.status })
    .from(table)
    .where(
      and(
        eq(table.tenantId, ctx.tenantId),
        or(eq(table.id, q), and(hasText(table.name, q), ne(table.status, 'archived'))),
      ),
    )
    .orderBy(desc(sql`lower(${table.name}) like lower(${`${literal(q)}%`})`), desc(table.updatedAt), asc(table.id))
    .limit(EACH)
}

async function findKeyed(ctx: ServiceContext, q: string): Promise<Found[]> {
  const ids = await runsKeyed(ctx, q)
  return ids.length === 0 ? [] : findRuns(ctx, inArray(runs.id, ids.slice(0, EACH)), runs.startTime)
}

/**
 * @param by the sort key for the latest: the id when searching by ids, whose order is chronological, so that one index
 * does both
 */
async function findRuns(
  ctx: ServiceContext,
  begins: SQL,
  by: typeof runs.id | typeof runs.startTime,
): Promise<Found[]> {
  const rows = await ctx.db
    .select({
      id: runs.id,
      workflowName: runs.workflowName,
      businessKey: runs.businessKey,
      status: runs.status,
      outcome: runs.outcome,
    })
    .from(runs)
    .where(and(eq(runs.tenantId, ctx.tenantId), begins))
    .orderBy(desc(by))
    .limit(EACH)
  return rows.map(({ id, workflowName, businessKey, ...run }) => ({
    kind: 'run',
    id,
    name: calledRun({ workflowName, businessKey }),
    state: stateOf(run),
  }))
}
