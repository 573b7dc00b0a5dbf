import { and, asc, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { isUnavailable } from '@/db/deadline'
import { runs } from '@/db/schema/runs'
import { authorize } from '../auth/policy'
import { runsInReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { largeRead } from '../large-reads'
import { parseInput } from '../parse'
import { wholeNumber } from '../query/values'
import { maskerFrom } from '../vault/masker'
import { reserveExport } from './export-slots'
import { ListRuns, runsThatMatch } from './list'
import { newerThan, type RunPosition, readPosition, writePosition } from './position'
import type { PresentedRun } from './present'
import { presentForCaller, readRun } from './status'
import { readLargeRun, readSmallRuns, STORED_BYTES } from './stored-run'

const DEFAULT_LIMIT = 1_000
const MAX_LIMIT = 10_000
/** The limits of one read before sending: this many runs, this much text, or this much time. */
const CHUNK = { runs: 50, bytes: 1024 * 1024, ms: 500 }
/** How long a response continues. It then ends with a cursor. */
const BUDGET_MS = 30_000
/** Runs that take up to this many stored bytes together are read in one statement. */
const TOGETHER_BYTES = 256 * 1024
const PATIENCE_MS = 10_000

const moment = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2026-11-01T00:00:00Z' })
  .regex(/^[12]/, 'must be a time such as 2026-11-01T00:00:00Z')
  .optional()

/** The query string of the export. */
export const ExportRuns = ListRuns.pick({ workflowId: true, status: true, outcome: true, cursor: true }).extend({
  cursor: ListRuns.shape.cursor.describe('The `nextCursor` of the previous response.'),
  from: moment.describe('Only runs that started at this time or later.'),
  to: moment.describe('Only runs that started before this time.'),
  limit: wholeNumber(1, MAX_LIMIT).optional().describe('The maximum to return, 1,000 by default.'),
})

type Filter = z.output<typeof ExportRuns>

interface Chunk {
  lines: string
  count: number
  /** The last run that was examined. */
  at: RunPosition | null
  more: boolean
}

/**
 * The tenant's runs as lines of JSON, each as the status shows it, in the order in which they started; the last line
 * has the cursor to continue from. That order never changes, so regardless of the number of responses and of changes in
 * the meantime, a retained run appears exactly once. The next runs are read when the caller has taken the last ones.
 * @throws AppError INVALID_INPUT, UNAVAILABLE
 */
export async function exportRuns(ctx: ServiceContext, input: unknown): Promise<ReadableStream<Uint8Array>> {
  authorize(ctx, 'run:read')
  const { limit = DEFAULT_LIMIT, ...filter } = parseInput(ExportRuns, input)
  const after =
    filter.cursor === undefined
      ? null
      : readPosition(filter.cursor, { path: 'cursor', message: 'is not a nextCursor of this export' })
  const release = reserveExport(ctx.tenantId)
  try {
    const begun = performance.now()
    // Before the response begins, so that a failure is an error of its own.
    let next: Chunk | null = await readChunk(ctx, filter, after, limit)
    let left = limit
    let last = after
    const encoder = new TextEncoder()
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          try {
            const chunk: Chunk | null = next ?? (await readOrEnd(ctx, filter, last, left))
            next = null
            left -= chunk?.count ?? 0
            last = chunk?.at ?? last
            const ends = !chunk?.more || left <= 0 || performance.now() - begun > BUDGET_MS
            const nextCursor = last && (chunk === null || chunk.more) ? writePosition(last) : null
            const end = ends ? `${JSON.stringify({ nextCursor })}\n` : ''
            controller.enqueue(encoder.encode(`${chunk?.lines ?? ''}${end}`))
            if (!ends) return
            release()
            controller.close()
          } catch (err) {
            release()
            ctx.log.error({ err }, 'export broken off')
            throw err
          }
        },
        cancel: release,
      },
      { highWaterMark: 0 },
    )
  } catch (err) {
    release()
    throw err
  }
}

/** The next runs; null if the database currently has no room for them, so that the response ends with its cursor. */
async function readOrEnd(
  ctx: ServiceContext,
  filter: Filter,
  after: RunPosition | null,
  most: number,
): Promise<Chunk | null> {
  try {
    return await readChunk(ctx, filter, after, most)
  } catch (err) {
    if (isUnavailable(err) || (err instanceof AppError && err.code === 'UNAVAILABLE')) return null
    throw err
  }
}

function readChunk(ctx: ServiceContext, filter: Filter, after: RunPosition | null, most: number): Promise<Chunk> {
  return largeRead(
    ctx,
    async (reading) => {
      const begun = performance.now()
      const positions = await findPositions(reading, filter, after, Math.min(most, CHUNK.runs) + 1)
      const chunk: Chunk = { lines: '', count: 0, at: null, more: false }
      for (const group of groupsOf(positions.slice(0, Math.min(most, CHUNK.runs)))) {
        for (const run of await readGroup(reading, group)) {
          chunk.lines += `${JSON.stringify(run)}\n`
          chunk.count += 1
        }
        chunk.at = group.at(-1) ?? null
        if (chunk.lines.length > CHUNK.bytes || performance.now() - begun > CHUNK.ms) break
      }
      chunk.more = chunk.at !== null && chunk.at !== positions.at(-1)
      return chunk
    },
    PATIENCE_MS,
  )
}

interface Found extends RunPosition {
  bytes: number | null
}

/** In order, so that one read takes little memory; a large run is alone. */
function* groupsOf(positions: readonly Found[]): Generator<Found[]> {
  let group: Found[] = []
  let total = 0
  for (const position of positions) {
    const bytes = position.bytes ?? Number.POSITIVE_INFINITY
    if (group.length > 0 && total + bytes > TOGETHER_BYTES) {
      yield group
      group = []
      total = 0
    }
    group.push(position)
    total += bytes
  }
  if (group.length > 0) yield group
}

/** The runs of the group that were not deleted just now. */
async function readGroup(ctx: ServiceContext, group: readonly Found[]): Promise<PresentedRun[]> {
  const ids = group.map(({ id }) => id)
  const small = ids.length > 1 ? await readSmallRuns(ctx, ids) : new Map()
  const read: PresentedRun[] = []
  for (const id of ids) {
    const found = small.get(id)
    const run = found
      ? await presentForCaller(ctx, found.stored, maskerFrom(ctx, found.vault))
      : await readRun(ctx, id, () => readLargeRun(ctx, id))
    if (run) read.push(run)
  }
  return read
}

async function findPositions(
  ctx: ServiceContext,
  filter: Filter,
  after: RunPosition | null,
  most: number,
): Promise<Found[]> {
  const { from, to } = filter
  const found = await ctx.db
    .select({ id: runs.id, startTime: runs.startTime, bytes: STORED_BYTES })
    .from(runs)
    .where(
      and(
        eq(runs.tenantId, ctx.tenantId),
        runsInReach(ctx),
        runsThatMatch(filter),
        from === undefined ? undefined : sql`${runs.startTime} >= ${from}::timestamptz`,
        to === undefined ? undefined : sql`${runs.startTime} < ${to}::timestamptz`,
        after ? newerThan(after) : undefined,
      ),
    )
    .orderBy(asc(runs.startTime), asc(runs.id))
    .limit(most)
  return found.map(({ id, startTime, bytes }) => ({ id, startTime: startTime.toISOString(), bytes }))
}
