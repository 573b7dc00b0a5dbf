import type { Identity } from '../auth/identity'
import type { Visitor } from '../auth/visitor'
import { AppError } from '../errors'
import { findByToken } from './find'
import { viewOf } from './view'

/**
 * On whose behalf the holder of a link downloads a file: only one that the page of the open task shows.
 * @throws AppError FILE_NOT_FOUND, the same for every other file and every other state of the link; RATE_LIMITED
 */
export async function openFileOfLink(
  visitor: Visitor,
  { token, fileId }: { token: string; fileId: string },
): Promise<Identity> {
  const found = await findByToken(visitor, token)
  const view = found && (await viewOf(found))
  const isShown = view?.state === 'open' && view.files.some(({ id }) => id === fileId.toLowerCase())
  if (!found || !isShown) throw new AppError('FILE_NOT_FOUND')
  const { tenantId, actor, trusted } = found.ctx
  return { tenantId, actor, trusted }
}
