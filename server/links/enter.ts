import { countRefusal } from '../auth/limits'
import type { Visitor } from '../auth/visitor'
import { type ServiceContext, systemContext } from '../context'
import { env } from '../env'
import { fromAddress } from '../http/address'
import { spend } from '../http/rate-limit'

/**
 * Lets a visitor with a link into its workspace, and counts the request. A token that was not signed here costs no
 * query, and counts as a guess.
 * @param claims of the link's token; null if this installation has not signed it
 * @param actorId who acts there
 * @throws AppError RATE_LIMITED
 */
export async function enterByLink(
  visitor: Visitor,
  claims: { tenantId: string; id: string } | null,
  actorId: string,
): Promise<ServiceContext | null> {
  const { db, now, headers, requestId } = visitor
  if (!claims) {
    await countRefusal('links', headers, db, now())
    return null
  }
  const { tenantId, id } = claims
  await spend('requests', `link:${id}`, db, now(), env())
  const log = visitor.log.child({ tenantId })
  return systemContext({ tenantId, db, log, now, requestId, address: fromAddress(headers) }, actorId)
}
