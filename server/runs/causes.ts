import { hkdfSync } from 'node:crypto'
import { and, desc, eq, inArray, isNull, ne, not, type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { runs } from '@/db/schema/runs'
import { workflowVersions } from '@/db/schema/workflows'
import { authorize } from '../auth/policy'
import { runsInReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import { keyring } from '../crypto'
import type { RunError } from '../definition/run'
import { largeRead } from '../large-reads'
import { parseInput } from '../parse'
import { findRow } from '../versioned/rows'
import { WORKFLOW } from '../workflows/noun'
import { STATUS_IS } from './list'
import { maskWords } from './mask-words'
import { isRepeated } from './repeated'
import { callerMaskersOf } from './run-masker'

/** How many of a workflow's latest failures are grouped, and how many the page of a run looks at. */
const LATEST = 5_000
const LATEST_FOR_PAGE = 500
const MAX_CAUSES = 20
const MAX_RUNS = 1_000
const SHOWN_RUNS = 5

/**
 * Failures for one reason: at one step of one version, with one code and, but for its values, one message. In a version
 * with sensitive fields, messages do not count: they may have their values, quoted or not.
 */
export interface Cause {
  /** Names the cause in further calls. */
  key: string
  version: number
  stepId: string | null
  code: string
  /** Of the newest of the runs. */
  message: string
  count: number
  firstTime: string
  lastTime: string
  /** The newest five of the runs. */
  runs: string[]
}

export interface Causes {
  workflowId: string
  /** The most frequent causes first. */
  causes: Cause[]
  /** How many failed runs were grouped: the newest `newestOf` at most. */
  of: number
  newestOf: number
  /** The key of the cause of the run that was asked about; null if nobody may heal it, or it was repeated. */
  ofRun: string | null
}

const code = sql<string>`${runs.error}->>'code'`
const stepId = sql<string | null>`${runs.error}->>'stepId'`
const message = sql<string>`left(${runs.error}->>'message', 1000)`

/** A message without what differs from run to run: quoted parts, ids and digits. */
function shapeOf(text: SQL): SQL<string> {
  const quoted = String.raw`"[^"]*"|'[^']*'|“[^”]*”|‘[^’]*’|\`[^\`]*\``
  const ids = String.raw`[0-9a-f]{8}-[0-9a-f-]{27}|\m\w+_[0-9A-Za-z]{8,}\M|[0-9]+`
  return sql<string>`regexp_replace(regexp_replace(${text}, ${quoted}, '…', 'g'), ${ids}, '#', 'g')`
}

/**
 * The latest failures of a workflow.
 * @param of.healable only those that may be healed: nobody has repeated them, and no parent run or test is behind them
 */
function latestFailed(
  ctx: ServiceContext,
  workflowId: string,
  limit: number,
  hidden: number[],
  { healable = true } = {},
) {
  const { tenantId, workflowVersion: version, startTime, id } = runs
  return ctx.db
    .select({
      id,
      startTime,
      version,
      code: code.as('code'),
      at: stepId.as('at'),
      shape: sql<
        string | null
      >`case when ${version} = any(${sql.param(hidden)}::int[]) then null else ${shapeOf(message)} end`.as('shape'),
    })
    .from(runs)
    .where(
      and(
        eq(tenantId, ctx.tenantId),
        eq(runs.workflowId, workflowId),
        STATUS_IS.failed,
        sql`${runs.outcome} = 'failed'`,
        ...(healable ? [ne(runs.startedVia, 'test'), isNull(runs.parentRunId), not(isRepeated)] : []),
        runsInReach(ctx),
      ),
    )
    .orderBy(desc(startTime), desc(id))
    .limit(limit)
    .as('latest')
}

type Latest = ReturnType<typeof latestFailed>

/** The versions of a workflow that failed runs have and that mark a field as sensitive. */
async function hiddenVersions(ctx: ServiceContext, workflowId: string): Promise<number[]> {
  const { tenantId, workflowId: of, version, definition } = workflowVersions
  const rows = await ctx.db
    .select({ version })
    .from(workflowVersions)
    .where(
      and(
        eq(tenantId, ctx.tenantId),
        eq(of, workflowId),
        sql`jsonb_path_exists(${definition}::jsonb, 'lax $.**.sensitive ? (@ == true)')`,
      ),
    )
  return rows.map((row) => row.version)
}

/** Nobody can guess a message and confirm it by the key, which is the same in every process. */
function keyOf(ctx: ServiceContext, workflowId: string, latest: Latest) {
  const [first] = keyring()
  const secret = hkdfSync('sha256', first, `${ctx.tenantId} ${workflowId}`, 'millrace causes of failures', 32)
  const named = sql`jsonb_build_array(${Buffer.from(secret).toString('hex')}::text, ${latest.version}, ${latest.at},
    ${latest.code}, ${latest.shape})::text`
  return sql<string>`encode(sha256(convert_to(${named}, 'UTF8')), 'hex')`
}

/**
 * Why the latest runs of a workflow failed, with how many failed for each reason.
 * @param of.runId a run whose cause is among them in any case
 * @throws AppError WORKFLOW_NOT_FOUND, UNAVAILABLE
 */
export async function readCauses(ctx: ServiceContext, of: { workflowId: string; runId?: string }): Promise<Causes> {
  authorize(ctx, 'run:read')
  const { workflowId } = of
  await findRow(ctx, WORKFLOW, workflowId)
  const found = await largeRead(ctx, (reading) => groups(reading, of))
  const messageOf = await messagesOf(
    ctx,
    found.flatMap((cause) => cause.runs[0] ?? []),
  )
  const causes = found
    .map(({ all: _all, ofRun: _ofRun, firstTime, lastTime, ...cause }) => ({
      ...cause,
      message: messageOf.get(cause.runs[0] ?? '') ?? '',
      firstTime: firstTime.toISOString(),
      lastTime: lastTime.toISOString(),
    }))
    .sort((a, b) => b.count - a.count || b.lastTime.localeCompare(a.lastTime))
  const ofRun = found.find((cause) => cause.ofRun)?.key ?? null
  return { workflowId, causes, of: found[0]?.all ?? 0, newestOf: LATEST, ofRun }
}

async function groups(ctx: ServiceContext, { workflowId, runId = '' }: { workflowId: string; runId?: string }) {
  const latest = latestFailed(ctx, workflowId, LATEST, await hiddenVersions(ctx, workflowId))
  const newest = sql`order by ${latest.startTime} desc, ${latest.id} desc`
  const count = sql<number>`count(*)::int`
  const ofRun = sql<boolean>`bool_or(${latest.id} = ${runId})`
  return ctx.db
    .select({
      key: keyOf(ctx, workflowId, latest),
      ofRun,
      version: latest.version,
      stepId: latest.at,
      code: latest.code,
      count,
      all: sql<number>`(sum(count(*)) over ())::int`,
      firstTime: sql<Date>`min(${latest.startTime})`.mapWith(latest.startTime),
      lastTime: sql<Date>`max(${latest.startTime})`.mapWith(latest.startTime),
      runs: sql<string[]>`(array_agg(${latest.id} ${newest}))[1:${sql.raw(String(SHOWN_RUNS))}]`,
    })
    .from(latest)
    .groupBy(latest.version, latest.at, latest.code, latest.shape)
    .orderBy(desc(ofRun), desc(count), desc(sql`max(${latest.startTime})`))
    .limit(MAX_CAUSES)
}

/** The messages with which runs failed, as the caller sees them. */
async function messagesOf(ctx: ServiceContext, runIds: string[]): Promise<Map<string, string>> {
  if (runIds.length === 0) return new Map()
  const [rows, maskerOf] = await Promise.all([
    ctx.db
      .select({ runId: runs.id, error: runs.error })
      .from(runs)
      .where(and(eq(runs.tenantId, ctx.tenantId), inArray(runs.id, runIds))),
    callerMaskersOf(
      ctx,
      runIds.map((runId) => ({ runId })),
    ),
  ])
  return new Map(rows.map((row) => [row.runId, maskWords(row, maskerOf(row)).error?.message ?? '']))
}

const ReadCauseRuns = z.object({ workflowId: z.string().max(100), key: z.string().max(64) })
export type ReadCauseRuns = z.input<typeof ReadCauseRuns>

/** The runs of a cause, newest first: at most a thousand. */
export async function readCauseRuns(ctx: ServiceContext, input: unknown): Promise<{ runIds: string[] }> {
  authorize(ctx, 'run:read')
  const { workflowId, key } = parseInput(ReadCauseRuns, input)
  await findRow(ctx, WORKFLOW, workflowId)
  const rows = await largeRead(ctx, async (reading) => {
    const latest = latestFailed(reading, workflowId, LATEST, await hiddenVersions(reading, workflowId))
    return reading.db
      .select({ id: latest.id })
      .from(latest)
      .where(eq(keyOf(reading, workflowId, latest), key))
      .orderBy(desc(latest.startTime), desc(latest.id))
      .limit(MAX_RUNS)
  })
  return { runIds: rows.map(({ id }) => id) }
}

/** Counts the other runs that failed for the same reason as a run, on any version, among its workflow's latest failures. */
export async function countOthers(
  ctx: ServiceContext,
  run: { id: string; workflowId: string; workflowVersion: number },
  error: RunError,
): Promise<{ count: number; more: boolean }> {
  const hidden = await hiddenVersions(ctx, run.workflowId)
  const latest = latestFailed(ctx, run.workflowId, LATEST_FOR_PAGE, hidden, { healable: false })
  const shape = hidden.includes(run.workflowVersion) ? sql`null` : shapeOf(sql`left(${error.message}::text, 1000)`)
  const [row] = await ctx.db
    .select({
      seen: sql<number>`count(*)::int`,
      alike: sql<number>`(count(*) filter (where ${ne(latest.id, run.id)} and ${latest.code} = ${error.code}
        and ${latest.at} is not distinct from ${error.stepId}::text
        and ${latest.shape} is not distinct from ${shape}))::int`,
    })
    .from(latest)
  return { count: row?.alike ?? 0, more: row?.seen === LATEST_FOR_PAGE && row.alike > 0 }
}
