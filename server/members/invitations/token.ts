import { createHash, randomBytes } from 'node:crypto'

/** How long a link works. */
export const INVITATION_MS = 7 * 24 * 3600_000

/** 192 bits; only the hash is stored. */
export function newInvitationToken(): { token: string; tokenHash: string } {
  const token = randomBytes(24).toString('base64url')
  return { token, tokenHash: hashInvitationToken(token) }
}

export function hashInvitationToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** Whether a text has the form of a token; callers look up nothing else. */
export function looksLikeInvitationToken(text: string): boolean {
  return /^[A-Za-z0-9_-]{32}$/.test(text)
}
