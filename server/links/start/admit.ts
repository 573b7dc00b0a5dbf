import type { Visitor } from '../../auth/visitor'
import { env } from '../../env'
import { addressOf } from '../../http/address'
import { countAttempt } from '../../http/rate-limit'
import { requireRoom } from '../../runs/queue-room'
import { type FoundStartLink, findStartLink } from './find'
import { viewOfStart } from './view'

/**
 * Whether a form that the holder of a link sends is worth reading: it may be as large as a file. Counts it if so.
 * @throws AppError RATE_LIMITED, UNAVAILABLE
 */
export async function admitForm(visitor: Visitor, token: string): Promise<boolean> {
  const found = await findStartLink(visitor, token)
  if (!found || (await viewOfStart(found)).state !== 'open') return false
  await countForm(visitor, found)
  return true
}

/**
 * Counts a form of a link, for each address.
 * @throws AppError RATE_LIMITED, UNAVAILABLE
 */
export async function countForm({ db, headers, now }: Visitor, { ctx, link }: FoundStartLink): Promise<void> {
  requireRoom(ctx.tenantId)
  await countAttempt(`start:${link.id}:${addressOf(headers, env().TRUST_PROXY)}`, db, now(), { what: 'forms' })
}
