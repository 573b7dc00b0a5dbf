import { and } from 'drizzle-orm'
import { z } from 'zod'
import { runs } from '@/db/schema/runs'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { parseInput } from '../../parse'
import { newerThan, olderThan, writePosition } from '../../runs/position'
import { newestFirst, oldestFirst, positionIn, RunFilter, runsWhere } from './filter'
import { withoutHiddenMessages } from './hidden'
import { type RunItem, readRunItems } from './items'

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 100

/** A page of the dashboard's run list: from the newest run, or from a position in either direction. */
export const BrowseRuns = RunFilter.extend({
  after: z.string().max(400).optional(),
  before: z.string().max(400).optional(),
  limit: z.number().int().min(1).max(MAX_LIMIT).optional(),
}).refine(({ after, before }) => after === undefined || before === undefined, 'only one of after and before')
export type BrowseRuns = z.input<typeof BrowseRuns>

export interface RunPage {
  runs: RunItem[]
  /** For `after`: older runs; null at the end. */
  next: string | null
  /** For `before`: runs newer than this page; null if the page starts with the newest. */
  previous: string | null
  /** The position above the first run; runs started later are above it. */
  top: string | null
}

/**
 * A page of the tenant's runs, newest first, with what each is waiting for or why it failed. Pages start and end at
 * runs, so runs that start meanwhile shift and repeat none.
 * @throws AppError INVALID_INPUT
 */
export async function browseRuns(ctx: ServiceContext, input: unknown): Promise<RunPage> {
  authorize(ctx, 'run:read')
  const { after, before, limit = DEFAULT_LIMIT, ...filter } = parseInput(BrowseRuns, input)
  const older = after === undefined ? undefined : olderThan(positionIn(after, 'after'))
  const newer = before === undefined ? undefined : newerThan(positionIn(before, 'before'))
  const where = await runsWhere(ctx, filter)
  if (where === null) return { runs: [], next: null, previous: null, top: null }
  const found = await ctx.db
    .select({ id: runs.id, startTime: runs.startTime })
    .from(runs)
    .where(and(where, older, newer))
    .orderBy(...(newer ? oldestFirst : newestFirst))
    .limit(limit + 1)
  const more = found.length > limit
  const page = newer ? found.slice(0, limit).reverse() : found.slice(0, limit)
  const [first, last] = [page[0], page.at(-1)]
  return {
    runs: await withoutHiddenMessages(
      ctx,
      await readRunItems(
        ctx,
        page.map(({ id }) => id),
      ),
    ),
    next: last && (newer || more) ? writePosition(last) : null,
    previous: first && (newer ? more : older) ? writePosition(first) : null,
    top: first ? writePosition(first) : null,
  }
}
