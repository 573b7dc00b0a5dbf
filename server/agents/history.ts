import type { ServiceContext } from '../context'
import { nameActors } from '../runs/actors'
import { listAgentVersions } from './list-versions'

/** The agent's versions with the names of who saved them. @throws AppError AGENT_NOT_FOUND, INVALID_INPUT */
export async function agentHistory(ctx: ServiceContext, input: { agentId: string; page: unknown }) {
  const versions = await listAgentVersions(ctx, input)
  const nameOf = await nameActors(
    ctx,
    versions.items.map(({ createdBy }) => createdBy),
  )
  const items = versions.items.map((item) => ({ ...item, author: nameOf(item.createdBy)?.name ?? item.createdBy }))
  return { ...versions, items }
}
