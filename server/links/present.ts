import type { LinkRow } from './find'

/** A link without its token. */
export function presentLink(link: LinkRow) {
  const { id, runId, pauseId, makerId, answersFor, createdAt, expiresAt, usedAt, revokedAt } = link
  return {
    ...{ id, runId, pauseId },
    createdBy: makerId,
    answeredBy: answersFor,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    usedAt: usedAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
  }
}
