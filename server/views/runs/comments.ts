import { and, asc, eq } from 'drizzle-orm'
import { runComments } from '@/db/schema/tasks'
import { authorize, may } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { requireRun } from '../../interpreter/find-run'
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
      .select()
      .from(runComments)
      .where(and(eq(runComments.tenantId, ctx.tenantId), eq(runComments.runId, runId)))
      .orderBy(asc(runComments.createdAt), asc(runComments.id)),
    runMaskerOf(ctx, runId),
  ])
  const nameOf = await nameActors(
    ctx,
    rows.map(({ author }) => author),
  )
  return rows.map(({ id, author, text, createdAt }) => ({
    id,
    author: nameOf(author)?.name ?? author,
    own: author === ctx.actor.id,
    mayDelete:
      may(ctx.actor.role, 'settings:manage') || (author === ctx.actor.id && may(ctx.actor.role, 'task:answer')),
    text: masker.text(text),
    at: createdAt.toISOString(),
  }))
}

export type Comment = Awaited<ReturnType<typeof listComments>>[number]
