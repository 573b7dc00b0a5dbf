import type { Masker } from '../../vault/mask'
import type { ListedStartLink } from './find'

/** A link without its token. */
export function presentStartLink(link: ListedStartLink, masker: Masker) {
  const { id, workflowId, label, makerId, createdAt, expiresAt, revokedAt, starts, makerMayStart } = link
  return {
    ...{ id, workflowId },
    label: label === null ? null : masker.text(label),
    createdBy: makerId,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    revokedAt: revokedAt?.toISOString() ?? null,
    starts,
    makerMayStart,
  }
}
