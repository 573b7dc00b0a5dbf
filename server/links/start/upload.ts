import type { Visitor } from '../../auth/visitor'
import { env } from '../../env'
import { AppError } from '../../errors'
import { type BegunUpload, beginUpload } from '../../files/direct/begin'
import { cancelUpload } from '../../files/direct/cancel'
import { type CompleteUpload, completeUpload } from '../../files/direct/complete'
import { addressOf } from '../../http/address'
import { countAttempt } from '../../http/rate-limit'
import { type FoundStartLink, findStartLink } from './find'
import { takesFile } from './taken-files'
import { type StartLinkView, viewOfStart } from './view'

/**
 * Begins to upload a file for the form of a start link. Only forms of the same link can send it, from any address. Each
 * address has a rate and places of its own.
 * @throws AppError as `beginUpload`; RATE_LIMITED; CONFLICT unless the link is open, and its form takes a file
 */
export async function beginLinkUpload(
  visitor: Visitor,
  { token, body }: { token: string; body: unknown },
): Promise<BegunUpload> {
  const found = await requireTakesFile(visitor, token)
  const { db, headers, now } = visitor
  const address = addressOf(headers, env().TRUST_PROXY)
  await countAttempt(`upload:${found.link.id}:${address}`, db, now(), { what: 'uploads' })
  return beginUpload(found.ctx, { body, origin: '', address })
}

/** @throws AppError as `completeUpload` */
export async function completeLinkUpload(
  visitor: Visitor,
  { token, fileId }: { token: string; fileId: string },
): Promise<CompleteUpload> {
  return completeUpload((await requireTakesFile(visitor, token)).ctx, { fileId })
}

/**
 * Cancels an upload, even if the link has ended meanwhile.
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
  const view: StartLinkView = found ? await viewOfStart(found) : { state: 'unknown' }
  if (found && view.state === 'open' && Object.keys(view.fields).some((name) => takesFile(view.fields, name)))
    return found
  throw new AppError('CONFLICT', { message: WHY[view.state] })
}

/** As the page of the link says it. */
const WHY: Record<StartLinkView['state'], string> = {
  unknown: 'This link does not work',
  revoked: 'This link was withdrawn',
  expired: 'This link has expired',
  closed: 'This form is closed',
  open: 'This form takes no file',
  started: 'This form takes no file',
}
