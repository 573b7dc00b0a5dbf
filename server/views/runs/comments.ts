import { and, asc, eq, getTableColumns, sql } from 'drizzle-orm'
import { pauses } from '@/db/schema/runs'
import { runComments } from '@/db/schema/tasks'
import { authorize, may } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { requireRun } from '../../run-store/find-run'
import { runMaskerOf } from '../../runs/run-masker'
import { nameActors } from '../actors'

/**
 * The comments of a run, oldest first. There are few enough for one response.
 * @throws AppError RUN_NOT_FOUND
 */
export async function listComments(ctx: ServiceContext, { runId }: { runId: string }) {
  authorize(ctx, 'run:read')
  await requireRun(ctx, runId)
  const [rows, masker] = await Promise.all([
    ctx.db
      .select({
        ...getTableColumns(runComments),
        task: sql<string | null>`coalesce(${pauses.signal}->>'title', ${pauses.stepId})`,
      })
      .from(runComments)
      .leftJoin(
        pauses,
        and(
          eq(pauses.tenantId, runComments.tenantId),
          eq(pauses.runId, runComments.runId),
          eq(pauses.id, runComments.pauseId),
        ),
      )
      .where(and(eq(runComments.tenantId, ctx.tenantId), eq(runComments.runId, runId)))
      .orderBy(asc(runComments.createdAt), asc(runComments.id)),
    runMaskerOf(ctx, runId),
  ])
  const nameOf = await nameActors(
    ctx,
    rows.map(({ author }) => author),
  )
  return rows.map(({ id, author, text, createdAt, task }) => ({
    id,
    author: nameOf(author)?.name ?? author,
    own: author === ctx.actor.id,
    mayDelete:
      may(ctx.actor.role, 'settings:manage') || (author === ctx.actor.id && may(ctx.actor.role, 'task:answer')),
    /** The task that the author answered along with the comment. */
    task: task === null ? null : masker.text(task),
    text: masker.text(text),
    at: createdAt.toISOString(),
  }))
}

export type Comment = Awaited<ReturnType<typeof listComments>>[number]
