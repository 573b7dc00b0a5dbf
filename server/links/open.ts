import type { Visitor } from '../auth/visitor'
import { findByToken } from './find'
import { type TaskLinkView, viewOf } from './view'

/**
 * What the page of a link shows. Decides nothing and uses nothing up.
 * @throws AppError RATE_LIMITED
 */
export async function openTaskLink(visitor: Visitor, { token }: { token: string }): Promise<TaskLinkView> {
  const found = await findByToken(visitor, token)
  return found ? viewOf(found) : { state: 'unknown' }
}
