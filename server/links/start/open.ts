import type { Visitor } from '../../auth/visitor'
import { findStartLink } from './find'
import { type StartLinkView, viewOfStart } from './view'

/**
 * The data of a start link's page. Starts nothing.
 * @throws AppError RATE_LIMITED
 */
export async function openStartLink(visitor: Visitor, { token }: { token: string }): Promise<StartLinkView> {
  const found = await findStartLink(visitor, token)
  return found ? viewOfStart(found) : { state: 'unknown' }
}
