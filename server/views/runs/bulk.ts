import { and, inArray, isNotNull, isNull, lte, ne, not, or, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { runs } from '@/db/schema/runs'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { AGENT_TURN } from '../../definition/agent-turn'
import { AppError } from '../../errors'
import { parseInput } from '../../parse'
import { cancelRun } from '../../runs/cancel'
import { isRepeated } from '../../runs/repeated'
import { rerunRun } from '../../runs/rerun'
import { retryRun } from '../../runs/retry'
import { type RefusedRun, refusedAs } from '../../runs/retry-many'
import { AgainVersion, RepeatCalls } from '../../runs/version-again'
import { findSearched, oldestFirst, RunFilter, runsWhere, STATE_IS, searchedText } from './filter'

/** Stops counting here: the screen shows `1,000+`. */
const MAX = 1_001
/** Runs per call: few enough for one request, and for the screen to show progress. */
const AT_ONCE = 25

const Bulk = z.object({
  verb: z.enum(['cancel', 'retry', 'rerun']),
  filter: RunFilter,
  /** When the runs were counted. Excludes later runs, so that a repeat does not find its own. */
  at: z.iso.datetime({ offset: true }),
  /** Only these of them. */
  runIds: z.array(z.string().max(100)).max(1_000).optional(),
})
export type Bulk = z.input<typeof Bulk>

const RunBulk = Bulk.extend({
  /** The version on which to retry or rerun them; their own by default. */
  version: AgainVersion.optional(),
  repeatCalls: RepeatCalls.optional(),
  /** For cancels. */
  reason: z.string().trim().max(1_000).optional(),
  /** With a searched text: the runs found when counting, because a new search may find others. */
  searched: z.array(z.string().max(100)).max(2_000).optional(),
  /** Runs that an earlier call could not handle. */
  skip: z.array(z.string().max(100)).max(1_000).default([]),
})
export type RunBulk = z.input<typeof RunBulk>

interface BulkCount {
  count: number
  more: boolean
  /** For `RunBulk`; only with a searched text. */
  searched?: string[]
}

/**
 * How many matching runs can be cancelled, retried or run again; not exact beyond a thousand.
 * @throws AppError INVALID_INPUT
 */
export async function countBulk(ctx: ServiceContext, input: unknown): Promise<BulkCount> {
  authorize(ctx, 'run:read')
  const bulk = parseInput(Bulk, input)
  const searched = (await findSearched(ctx, bulk.filter, new Date(bulk.at))) ?? undefined
  const where = await bulkWhere(ctx, bulk, searched)
  if (where === null) return { count: 0, more: false }
  const found = ctx.db.select({ one: sql`1` }).from(runs).where(where).limit(MAX).as('found')
  const [row] = await ctx.db.select({ count: sql<number>`count(*)::int` }).from(found)
  const count = row?.count ?? 0
  return { count: Math.min(count, MAX - 1), more: count === MAX, ...(searched ? { searched } : {}) }
}

/**
 * Cancels, retries or reruns the oldest matching runs. Call it until `left` is false. A run that changed meanwhile is
 * skipped and listed in `refused`.
 * @throws AppError INVALID_INPUT
 */
export async function runBulk(ctx: ServiceContext, input: unknown) {
  const { reason, skip, searched, version, repeatCalls, ...bulk } = parseInput(RunBulk, input)
  authorize(ctx, bulk.verb === 'cancel' ? 'run:cancel' : 'run:retry')
  if (searchedText(bulk.filter) !== null && searched === undefined) {
    const message = 'must name the counted runs when the filter has a text'
    throw new AppError('INVALID_INPUT', { details: [{ path: 'searched', message }] })
  }
  const where = await bulkWhere(ctx, bulk, searched)
  const refused: RefusedRun[] = []
  if (where === null) return { done: 0, refused, left: false }
  const found = await ctx.db
    .select({ id: runs.id })
    .from(runs)
    .where(and(where, skip.length > 0 ? sql`${runs.id} <> all(${sql.param(skip)})` : undefined))
    .orderBy(...oldestFirst)
    .limit(AT_ONCE + 1)
  let done = 0
  for (const { id: runId } of found.slice(0, AT_ONCE)) {
    const why = await refusedAs(runId, () => {
      if (bulk.verb === 'cancel') return cancelRun(ctx, { runId, ...(reason ? { reason } : {}) })
      const body = { version, repeatCalls }
      if (bulk.verb === 'retry') return retryRun(ctx, { runId, body }, { useful: true })
      return rerunRun(ctx, { runId, body }, { useful: true })
    })
    if (why) refused.push(why)
    else done++
  }
  return { done, refused, left: found.length > AT_ONCE }
}

async function bulkWhere(
  ctx: ServiceContext,
  { verb, filter, at, runIds }: z.infer<typeof Bulk>,
  searched: string[] | undefined,
): Promise<SQL | undefined | null> {
  const matching = await runsWhere(ctx, filter, searched ? { searched } : {})
  if (matching === null) return null
  const can = { cancel: cancellable, retry: retriable, rerun: repeatable }[verb]
  return and(matching, lte(runs.startTime, new Date(at)), runIds && inArray(runs.id, runIds), can)
}

const cancellable = and(or(STATE_IS.running, STATE_IS.paused), isNull(runs.cancelRequestedAt))

const notRepeated = not(isRepeated)

/** Its parent run usually matches too and starts a child run of its own, which would repeat the work. */
const notChild = isNull(runs.parentRunId)

/** A message to an agent is sent again instead. */
const notMessage = ne(runs.workflowId, AGENT_TURN.workflowId)

const retriable = and(or(STATE_IS.failed, STATE_IS.timed_out), notChild, notRepeated)
const repeatable = and(isNotNull(runs.outcome), notChild, notRepeated, notMessage)
