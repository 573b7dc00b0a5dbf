import { and, asc, desc, eq, gte, inArray, like, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { runs } from '@/db/schema/runs'
import { workflowVersions } from '@/db/schema/workflows'
import type { ServiceContext } from '../../context'
import { spellings } from '../../definition/spellings'
import { StepRef } from '../../definition/step-ref'
import { isId } from '../../ids'
import { hasText, isText, literal, SearchText } from '../../query/search-text'
import { STATUS_IS } from '../../runs/list'
import { type RunPosition, readPosition } from '../../runs/position'
import { runsContaining } from './containing'

/** A run's state in one word: its status while it is open, its outcome once it has ended. */
const RUN_STATES = ['running', 'paused', 'completed', 'failed', 'cancelled', 'terminated', 'timed_out'] as const
export type RunState = (typeof RUN_STATES)[number]

const STARTED_VIA = ['apiKey', 'jwt', 'user', 'test', 'system'] as const

const Id = z.string().refine(isId, 'is not an id')
const Moment = z.iso.datetime({ offset: true })

/** Filters of a run list; none by default. */
export const RunFilter = z.object({
  /** The start of a run's id or business key, or part of the workflow's name or of a value in input or result. */
  q: SearchText.optional(),
  states: z.array(z.enum(RUN_STATES)).max(RUN_STATES.length).optional(),
  workflowIds: z.array(Id).max(50).optional(),
  /** Of this version of its workflow. */
  version: z.number().int().min(1).max(2_147_483_647).optional(),
  /** Started at this time or later. */
  from: Moment.optional(),
  /** Started before this time. */
  to: Moment.optional(),
  via: z.enum(STARTED_VIA).optional(),
  /** Has this business key. */
  businessKey: SearchText.optional(),
  /** Failed at the step with this id. */
  failedAt: StepRef.optional(),
  /** Failed with this error code. */
  code: z.string().max(100).optional(),
})
export type RunFilter = z.infer<typeof RunFilter>

export function stateOf(run: Pick<typeof runs.$inferSelect, 'status' | 'outcome'>): RunState {
  if (run.outcome === null) return run.status
  return run.outcome === 'succeeded' ? 'completed' : run.outcome
}

/** Literals in the statement's text: only then can the planner use the partial index of states. */
export const STATE_IS = {
  running: STATUS_IS.running,
  paused: STATUS_IS.paused,
  completed: sql`(${runs.status} = 'completed' and ${runs.outcome} = 'succeeded')`,
  failed: sql`(${runs.status} = 'failed' and ${runs.outcome} = 'failed')`,
  cancelled: sql`(${runs.status} = 'failed' and ${runs.outcome} = 'cancelled')`,
  terminated: sql`(${runs.status} = 'failed' and ${runs.outcome} = 'terminated')`,
  timed_out: sql`(${runs.status} = 'failed' and ${runs.outcome} = 'timed_out')`,
} as const satisfies Record<RunState, SQL>

/** The text to search for; null without one. The start of a run's id is an ordinary filter. */
export function searchedText({ q }: RunFilter): string | null {
  return q && !q.startsWith('run_') ? q : null
}

/** The outcomes of unsuccessful runs, whose status is `failed`. */
const UNSUCCESSFUL: readonly RunState[] = ['failed', 'cancelled', 'terminated', 'timed_out']

function statesAre(states: readonly RunState[], ofWorkflows: boolean): SQL | undefined {
  if (!ofWorkflows || states.some((state) => !UNSUCCESSFUL.includes(state)))
    return or(...states.map((state) => STATE_IS[state]))
  // Worded so that the index of states does not match: the planner underestimates it and would read all failed runs to
  // find the few of one workflow, which has an index of its own.
  return and(STATUS_IS.failed, inArray(sql`coalesce(${runs.outcome}, '')`, [...states]))
}

/**
 * The runs that a text finds by key or value; null without a text. Find them once and pass them to `runsWhere` wherever
 * the same runs must match again.
 */
export async function findSearched(ctx: ServiceContext, filter: RunFilter, until: Date): Promise<string[] | null> {
  const text = searchedText(filter)
  if (text === null) return null
  const matching = and(othersWhere(ctx, filter), lte(runs.startTime, until))
  const [keyed, containing] = await Promise.all([runsKeyed(ctx, text), runsContaining(ctx, text, matching)])
  return [...new Set([...keyed, ...containing])]
}

/**
 * Except for errors, uses only columns of the index `runs_by_time`, so a page is an index-only scan. Null if nothing
 * can match. Without `values`, searches keys and names only; `searched` holds runs found before.
 */
export async function runsWhere(
  ctx: ServiceContext,
  filter: RunFilter,
  { values = true, searched }: { values?: boolean; searched?: string[] } = {},
): Promise<SQL | undefined | null> {
  const text = searchedText(filter)
  const others = othersWhere(ctx, filter)
  if (text === null) return others
  const [named, keyed, containing] = await Promise.all([
    workflowsNamed(ctx, text),
    searched ?? runsKeyed(ctx, text),
    values && !searched ? runsContaining(ctx, text, others) : [],
  ])
  const ids = [...keyed, ...containing]
  if (named.length === 0 && ids.length === 0) return null
  return and(others, or(inArray(runs.workflowId, named), inArray(runs.id, ids)))
}

/** The filters without the searched text. */
function othersWhere(ctx: ServiceContext, filter: RunFilter): SQL | undefined {
  const { q, states, workflowIds, version, from, to, via, businessKey, failedAt, code } = filter
  return and(
    eq(runs.tenantId, ctx.tenantId),
    q?.startsWith('run_') ? idBegins(q) : undefined,
    states?.length ? statesAre(states, Boolean(workflowIds?.length)) : undefined,
    workflowIds?.length ? inArray(runs.workflowId, workflowIds) : undefined,
    version ? eq(runs.workflowVersion, version) : undefined,
    from ? gte(runs.startTime, new Date(from)) : undefined,
    to ? lt(runs.startTime, new Date(to)) : undefined,
    via ? eq(runs.startedVia, via) : undefined,
    businessKey ? isText(runs.businessKey, businessKey) : undefined,
    // Literals for the partial index of states. The status makes the planner expect few runs: otherwise it would read
    // all to find one failed like this.
    failedAt || code ? sql`(${runs.status} = 'failed' and ${runs.outcome} <> 'succeeded')` : undefined,
    failedAt ? sql`${runs.error}->>'stepId' = ${failedAt}` : undefined,
    code ? sql`${runs.error}->>'code' = ${code}` : undefined,
  )
}

/**
 * Ids are upper case after their prefix. Escapes the prefix's underscore: as a wildcard it would rule out every index.
 */
export function idBegins(q: string): SQL {
  return like(runs.id, `${literal(`run_${q.slice('run_'.length).toUpperCase()}`)}%`)
}

/** Workflows that had such a name in any version, because runs keep the name they were started under. */
async function workflowsNamed(ctx: ServiceContext, text: string): Promise<string[]> {
  const rows = await ctx.db
    .selectDistinct({ id: workflowVersions.workflowId })
    .from(workflowVersions)
    .where(and(eq(workflowVersions.tenantId, ctx.tenantId), hasText(workflowVersions.name, text)))
  return rows.map(({ id }) => id)
}

/** If more keys begin like this, only the greatest are found: the newest where keys rise. */
const MAX_KEYED = 1_000

/**
 * The runs whose business key begins with a text, newest first. A statement of its own, because only the index of keys
 * finds them, and in its order: ordering by time, Postgres would either filter run by run or sort all keys with this
 * prefix, and both may be millions.
 */
export async function runsKeyed(ctx: ServiceContext, text: string): Promise<string[]> {
  // One statement per spelling, since an index scan in order covers one prefix.
  const found = spellings(text).map((one) =>
    ctx.db
      .select({ id: runs.id, startTime: runs.startTime })
      .from(runs)
      .where(and(eq(runs.tenantId, ctx.tenantId), keyBegins(one)))
      .orderBy(sql`lower(${runs.businessKey}) using ~>~`)
      .limit(MAX_KEYED),
  )
  const rows = (await Promise.all(found)).flat()
  return rows.sort((a, b) => b.startTime.getTime() - a.startTime.getTime()).map(({ id }) => id)
}

/** In the form of the index `runs_by_key`. */
function keyBegins(text: string): SQL {
  return sql`${runs.businessKey} is not null and lower(${runs.businessKey}) like lower(${`${literal(text)}%`})`
}

export const newestFirst = [desc(runs.startTime), desc(runs.id)]
export const oldestFirst = [asc(runs.startTime), asc(runs.id)]

/** @throws AppError INVALID_INPUT */
export function positionIn(text: string, path: string): RunPosition {
  return readPosition(text, { path, message: 'is not a position in this list' })
}
