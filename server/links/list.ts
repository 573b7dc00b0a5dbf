import { and, desc, eq } from 'drizzle-orm'
import { taskLinks } from '@/db/schema/task-links'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { parseInput } from '../parse'
import { requireRun } from '../run-store/find-run'
import { presentLink } from './present'
import { ListTaskLinks } from './schema'

const MAX = 1_000

/**
 * The links of a run's tasks, newest first, without their tokens.
 * @throws AppError RUN_NOT_FOUND, INVALID_INPUT
 */
export async function listTaskLinks(ctx: ServiceContext, { runId, query }: { runId: string; query: unknown }) {
  authorize(ctx, 'run:read')
  await requireRun(ctx, runId)
  const { pauseId } = parseInput(ListTaskLinks, query)
  const rows = await ctx.db
    .select()
    .from(taskLinks)
    .where(
      and(
        eq(taskLinks.tenantId, ctx.tenantId),
        eq(taskLinks.runId, runId),
        pauseId === undefined ? undefined : eq(taskLinks.pauseId, pauseId),
      ),
    )
    .orderBy(desc(taskLinks.createdAt), desc(taskLinks.id))
    .limit(MAX)
  return rows.map(presentLink)
}
