import type { ServiceContext } from '../../context'
import { listTaskLinks } from '../../links/list'
import { nameActors } from '../actors'

/**
 * The links of one task, with the names of their makers.
 * @throws AppError RUN_NOT_FOUND, INVALID_INPUT
 */
export async function browseTaskLinks(ctx: ServiceContext, { runId, pauseId }: { runId: string; pauseId: string }) {
  const links = await listTaskLinks(ctx, { runId, query: { pauseId } })
  const nameOf = await nameActors(
    ctx,
    links.flatMap(({ createdBy, answeredBy }) => [createdBy, answeredBy]),
  )
  return links.map(({ createdBy, answeredBy, ...link }) => ({
    ...link,
    madeBy: nameOf(createdBy)?.name ?? createdBy,
    madeFor: nameOf(answeredBy)?.name ?? null,
  }))
}

export type TaskLinkItem = Awaited<ReturnType<typeof browseTaskLinks>>[number]
