import type { ServiceContext } from '../../context'
import { listStartLinks } from '../../links/start/list'
import { MAX_STARTS } from '../../links/start/schema'
import { nameActors } from '../actors'

/**
 * The start links of a workflow, with the names of their makers.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function browseStartLinks(ctx: ServiceContext, { workflowId }: { workflowId: string }) {
  const links = await listStartLinks(ctx, { workflowId })
  const nameOf = await nameActors(
    ctx,
    links.map(({ createdBy }) => createdBy),
  )
  return links.map(({ createdBy, ...link }) => ({
    ...link,
    madeBy: nameOf(createdBy)?.name ?? createdBy,
    /** Whether it may have started more runs than `starts`. */
    orMore: link.starts >= MAX_STARTS,
  }))
}

export type StartLinkItem = Awaited<ReturnType<typeof browseStartLinks>>[number]
