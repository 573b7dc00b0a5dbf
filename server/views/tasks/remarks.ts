import { and, asc, eq, inArray } from 'drizzle-orm'
import { runComments } from '@/db/schema/tasks'
import type { ServiceContext } from '../../context'
import type { Masker } from '../../vault/mask'
import { nameActors } from '../actors'

/** A person's remark with their answer or vote. */
export interface ShownRemark {
  by: string
  name: string
  text: string
}

/** The remarks on these pauses of a run, oldest first. */
export async function readRemarks(
  ctx: ServiceContext,
  runId: string,
  pauseIds: string[],
  masker: Masker,
): Promise<(pauseId: string) => ShownRemark[]> {
  if (pauseIds.length === 0) return () => []
  const rows = await ctx.db
    .select({ pauseId: runComments.pauseId, by: runComments.author, text: runComments.text })
    .from(runComments)
    .where(
      and(eq(runComments.tenantId, ctx.tenantId), eq(runComments.runId, runId), inArray(runComments.pauseId, pauseIds)),
    )
    .orderBy(asc(runComments.createdAt), asc(runComments.id))
  const nameOf = await nameActors(
    ctx,
    rows.map(({ by }) => by),
  )
  return (wanted) =>
    rows
      .filter(({ pauseId }) => pauseId === wanted)
      .map(({ by, text }) => ({ by, name: nameOf(by)?.name ?? by, text: masker.text(text) }))
}
