import { and, eq, gt, isNull } from 'drizzle-orm'
import { z } from 'zod'
import type { Tx } from '@/db/index'
import { invitations } from '@/db/schema/invitations'
import { members, users } from '@/db/schema/members'
import { record } from '../../audit/record'
import { insertUser, NewPassword, PersonName } from '../../auth/new-user'
import { hashPassword, verifyPassword } from '../../auth/password'
import { revokeSessionsOf, type SessionUser } from '../../auth/sessions'
import type { Visitor } from '../../auth/visitor'
import { env } from '../../env'
import { AppError } from '../../errors'
import { addressOf, fromAddress } from '../../http/address'
import { countAttempt } from '../../http/rate-limit'
import { parseInput } from '../../parse'
import { roleOf } from '../../roles'
import { findInvitation, stateOf, unprovenPassword } from './look-up'

const Accept = z.object({
  token: z.string().max(200),
  /** For people without an account. */
  person: z.object({ name: PersonName, password: NewPassword }).optional(),
  /** For people whose password may be an impostor's: see `unprovenPassword`. */
  password: NewPassword.optional(),
})
export type AcceptInput = z.input<typeof Accept>

const REFUSED = {
  used: 'This invitation has already been used',
  revoked: 'This invitation has been withdrawn',
  expired: 'This invitation has expired',
} as const

/**
 * Makes the invited person a member: either the user signed in with the invited address, or a new user who sets a name
 * and a password. Works once. A user with an unproven address cannot reuse a password from another workspace: they set
 * a new one, and their other sessions end.
 * @throws AppError NOT_FOUND, CONFLICT, INVALID_INPUT, FORBIDDEN if another person is signed in, UNAUTHORIZED if the
 * address has an account and nobody is signed in, RATE_LIMITED
 */
export async function acceptInvitation(
  visitor: Visitor,
  user: SessionUser | null,
  input: AcceptInput,
): Promise<{ slug: string; email: string }> {
  const { token, person, password } = parseInput(Accept, input)
  await countAttempt(`invitation:${addressOf(visitor.headers, env().TRUST_PROXY)}`, visitor.db, visitor.now())
  const found = await findInvitation(visitor.db, token)
  if (!found) throw new AppError('NOT_FOUND', { message: 'Invitation not found' })
  const { invitation, slug } = found
  const state = stateOf(invitation, visitor.now())
  if (state !== 'open') throw new AppError('CONFLICT', { message: REFUSED[state] })
  const { email, tenantId } = invitation
  if (user && user.email !== email) {
    const message = `This invitation is for ${email}; you are signed in as ${user.email}`
    throw new AppError('FORBIDDEN', { message })
  }
  if (!user && !person) throw new AppError('UNAUTHORIZED', { message: 'Sign in to accept this invitation' })
  const passwordHash = person ? await hashPassword(person.password) : null
  const known = user && (await unprovenPassword(visitor.db, email))
  const renewed = known ? await newHash(password, known) : null
  const now = visitor.now()
  await visitor.db.transaction(async (tx) => {
    await use(tx, invitation, now)
    if (user && known && renewed) {
      const same = and(eq(users.id, user.userId), eq(users.passwordHash, known), isNull(users.addressProvenAt))
      const changed = await tx.update(users).set({ passwordHash: renewed }).where(same).returning({ id: users.id })
      if (changed.length === 0) throw new AppError('CONFLICT', { message: 'The password was changed meanwhile' })
      await revokeSessionsOf(tx, user.userId, now, user.sessionId)
    }
    const made = { email, name: person?.name ?? email, passwordHash, addressProvenAt: null }
    const userId = user?.userId ?? (await insertUser(tx, made, now))
    if (!userId) throw new AppError('UNAUTHORIZED', { message: 'Sign in to accept this invitation' })
    // A person who became a member in another way keeps their role.
    const role = roleOf(invitation.role)
    const joined = await tx
      .insert(members)
      .values({ tenantId, userId, role, createdAt: now })
      .onConflictDoNothing()
      .returning({ userId: members.userId })
    if (joined.length === 0) return
    const actor = {
      kind: 'user',
      id: userId,
      name: user?.name ?? made.name,
      sessionId: user?.sessionId ?? '',
      role,
    } as const
    const recorder = { tenantId, actor, requestId: visitor.requestId, address: fromAddress(visitor.headers), db: tx }
    await record(recorder, 'member.joined', { id: userId, name: email }, { role, invitation: invitation.id })
  })
  visitor.log.info({ tenantId, invitation: invitation.id }, 'an invitation was accepted')
  return { slug, email }
}

/** @throws AppError INVALID_INPUT without a password, or if it equals the current one */
async function newHash(password: string | undefined, current: string): Promise<string> {
  const refuse = (message: string) => new AppError('INVALID_INPUT', { details: [{ path: 'password', message }] })
  if (password === undefined) throw refuse('is needed: choose a new one')
  if (await verifyPassword(password, current)) throw refuse('must be a new one')
  return hashPassword(password)
}

/**
 * Of two concurrent acceptances only one succeeds; a link replaced meanwhile no longer works.
 * @throws AppError CONFLICT
 */
async function use(tx: Tx, { tenantId, id, tokenHash }: typeof invitations.$inferSelect, now: Date): Promise<void> {
  const used = await tx
    .update(invitations)
    .set({ acceptedAt: now })
    .where(
      and(
        eq(invitations.tenantId, tenantId),
        eq(invitations.id, id),
        eq(invitations.tokenHash, tokenHash),
        isNull(invitations.acceptedAt),
        isNull(invitations.revokedAt),
        gt(invitations.expiresAt, now),
      ),
    )
    .returning({ id: invitations.id })
  if (used.length === 0) throw new AppError('CONFLICT', { message: REFUSED.used })
}
