import { listThreads as list } from '../../agents/list-threads'
import type { ServiceContext } from '../../context'
import { nameActors } from '../actors'

export interface ListThreads {
  agentId: string
  limit?: string
  /** The `nextCursor` of the previous page. */
  cursor?: string | null
}

/**
 * The list of the REST API, with the names of the agent's conversation partners.
 * @throws AppError AGENT_NOT_FOUND, INVALID_INPUT
 */
export async function listThreads(ctx: ServiceContext, { agentId, cursor, ...query }: ListThreads) {
  const { threads, nextCursor } = await list(ctx, agentId, { ...query, cursor: cursor ?? undefined })
  const nameOf = await nameActors(
    ctx,
    threads.map(({ subject }) => subject),
  )
  /** Null if the workspace itself talks. */
  const partnerOf = (subject: string | null) => nameOf(subject)?.name ?? null
  return { items: threads.map((thread) => ({ ...thread, partner: partnerOf(thread.subject) })), nextCursor }
}
