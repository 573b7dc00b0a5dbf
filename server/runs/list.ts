import { and, desc, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { runs } from '@/db/schema/runs'
import { authorize, seesHidden } from '../auth/policy'
import { runsInReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import type { RunError } from '../definition/run'
import { isId } from '../ids'
import { parseInput } from '../parse'
import { NOT_OF_THIS_LIST } from '../query/cursor'
import { isText, SearchText } from '../query/search-text'
import { wholeNumber } from '../query/values'
import type { Masker } from '../vault/mask'
import { tenantMasker } from '../vault/masker'
import { hiddenMessages } from './hidden-messages'
import { maskWords } from './mask-words'
import { olderThan, readPosition, writePosition } from './position'

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 200

/** The query string of the list. */
export const ListRuns = z.object({
  workflowId: z.string().refine(isId, 'is not an id').optional().describe('Only runs of this workflow.'),
  status: z.enum(['running', 'paused', 'completed', 'failed']).optional().describe('Only runs in this state.'),
  outcome: z
    .enum(['succeeded', 'failed', 'cancelled', 'terminated', 'timed_out'])
    .optional()
    .describe('Only runs with this outcome.'),
  businessKey: SearchText.optional().describe('Only runs with this key, in upper or lower case.'),
  limit: wholeNumber(1, MAX_LIMIT).optional().describe('The maximum to return, 50 by default.'),
  cursor: z.string().max(400).optional().describe('The `nextCursor` of the previous page.'),
})

const columns = {
  runId: runs.id,
  workflowId: runs.workflowId,
  workflowName: runs.workflowName,
  businessKey: runs.businessKey,
  workflowVersion: runs.workflowVersion,
  status: runs.status,
  outcome: runs.outcome,
  currentStepId: runs.currentStepId,
  startTime: runs.startTime,
  endTime: runs.endTime,
  startedBy: runs.startedBy,
  startedVia: runs.startedVia,
  retryOf: runs.retryOf,
  error: runs.error,
}

/**
 * The tenant's runs, newest first, without data and history. A page starts after the last run of the previous one, so
 * runs that start in the meantime neither shift nor repeat any.
 * @throws AppError INVALID_INPUT
 */
export async function listRuns(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'run:read')
  const { workflowId, status, outcome, businessKey, limit = DEFAULT_LIMIT, cursor } = parseInput(ListRuns, input)
  const after = cursor === undefined ? null : readPosition(cursor, NOT_OF_THIS_LIST)
  const select = ctx.db
    .select(columns)
    .from(runs)
    .where(
      and(
        eq(runs.tenantId, ctx.tenantId),
        runsInReach(ctx),
        runsThatMatch({ workflowId, status, outcome }),
        businessKey === undefined ? undefined : isText(runs.businessKey, businessKey),
        after ? olderThan(after) : undefined,
      ),
    )
    .orderBy(desc(runs.startTime), desc(runs.id))
    .limit(limit + 1)
  const [rows, masker] = await Promise.all([select, tenantMasker(ctx)])
  const page = await shownTo(ctx, rows.slice(0, limit))
  const last = page.at(-1)
  return {
    runs: page.map((row) => presentItem(row, masker)),
    nextCursor: rows.length > limit && last ? writePosition({ startTime: last.startTime, id: last.runId }) : null,
  }
}

/** A filter as a condition; undefined for all runs. */
export function runsThatMatch({
  workflowId,
  status,
  outcome,
}: Pick<z.output<typeof ListRuns>, 'workflowId' | 'status' | 'outcome'>) {
  return and(
    workflowId === undefined ? undefined : eq(runs.workflowId, workflowId),
    status === undefined ? undefined : STATUS_IS[status],
    outcome === undefined
      ? undefined
      : and(eq(runs.outcome, outcome), outcome === 'succeeded' ? undefined : STATUS_IS.failed),
  )
}

/**
 * Written out: only then can the planner use the partial indexes, which find the few open runs among millions, and the
 * failed ones of a workflow. An open run has no outcome.
 */
export const STATUS_IS = {
  running: sql`(${runs.status} = 'running' and ${runs.outcome} is null)`,
  paused: sql`(${runs.status} = 'paused' and ${runs.outcome} is null)`,
  completed: eq(runs.status, 'completed'),
  failed: sql`${runs.status} = 'failed'`,
} as const

type Row = { runId: string; workflowId: string; workflowVersion: number; error: RunError | null }

/** The rows, with failure messages masked as the caller may see them. */
async function shownTo<R extends Row>(ctx: ServiceContext, rows: R[]): Promise<R[]> {
  if (!seesHidden(ctx)) return rows
  const failed = rows.flatMap(({ error, ...run }) => (error ? [{ ...run, code: error.code }] : []))
  const messages = await hiddenMessages(ctx, failed)
  return rows.map((row) => {
    const message = messages.get(row.runId)
    return row.error && message !== undefined ? { ...row, error: { ...row.error, message } } : row
  })
}

function presentItem<
  R extends { startTime: Date; endTime: Date | null; error: RunError | null; businessKey: string | null },
>(row: R, masker: Masker) {
  const { startTime, endTime, error, businessKey, ...run } = maskWords(row, masker)
  return {
    ...run,
    ...(businessKey === null ? {} : { businessKey }),
    startTime: startTime.toISOString(),
    ...(endTime ? { endTime: endTime.toISOString(), durationMs: endTime.getTime() - startTime.getTime() } : {}),
    error,
  }
}
