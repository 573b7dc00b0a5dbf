import type { Visitor } from '../auth/visitor'
import { findByToken } from './find'
import { type TaskLinkView, viewOf } from './view'

/**
 * The data of a link's page. Decides nothing and does not use up the link.
 * @throws AppError RATE_LIMITED
 */
export async function openTaskLink(visitor: Visitor, { token }: { token: string }): Promise<TaskLinkView> {
  const found = await findByToken(visitor, token)
  return found ? viewOf(found) : { state: 'unknown' }
}
