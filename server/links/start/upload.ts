import type { Visitor } from '../../auth/visitor'
import { AppError } from '../../errors'
import { type BegunUpload, beginUpload } from '../../files/direct/begin'
import { cancelUpload } from '../../files/direct/cancel'
import { type CompleteUpload, completeUpload } from '../../files/direct/complete'
import { countForm } from './admit'
import { type FoundStartLink, findStartLink } from './find'
import { takesFile } from './taken-files'
import { viewOfStart } from './view'

/**
 * Begins to upload a file for the form of a start link. Only forms of the same link can send it. Each counts as a form of
 * its address.
 * @throws AppError as `beginUpload`; RATE_LIMITED; CONFLICT unless the link is open, and its form takes a file
 */
export async function beginLinkUpload(
  visitor: Visitor,
  { token, body }: { token: string; body: unknown },
): Promise<BegunUpload> {
  const found = await requireTakesFile(visitor, token)
  await countForm(visitor, found)
  return beginUpload(found.ctx, { body, origin: '' })
}

/** @throws AppError as `completeUpload` */
export async function completeLinkUpload(
  visitor: Visitor,
  { token, fileId }: { token: string; fileId: string },
): Promise<CompleteUpload> {
  return completeUpload((await requireTakesFile(visitor, token)).ctx, { fileId })
}

/**
 * Gives an upload up, even if the link has ended meanwhile.
 * @throws AppError as `cancelUpload`; RATE_LIMITED
 */
export async function cancelLinkUpload(
  visitor: Visitor,
  { token, fileId }: { token: string; fileId: string },
): Promise<{ id: string; deleted: true }> {
  const found = await findStartLink(visitor, token)
  if (!found) throw new AppError('FILE_NOT_FOUND')
  return cancelUpload(found.ctx, { fileId })
}

async function requireTakesFile(visitor: Visitor, token: string): Promise<FoundStartLink> {
  const found = await findStartLink(visitor, token)
  const view = found && (await viewOfStart(found))
  if (found && view?.state === 'open' && Object.keys(view.fields).some((name) => takesFile(view.fields, name)))
    return found
  throw new AppError('CONFLICT', { message: 'This form takes no file' })
}
