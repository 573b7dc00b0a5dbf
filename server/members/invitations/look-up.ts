import { eq } from 'drizzle-orm'
import type { Db, Tx } from '@/db/index'
import { invitations } from '@/db/schema/invitations'
import { users } from '@/db/schema/members'
import { tenants } from '@/db/schema/tenants'
import type { Visitor } from '../../auth/visitor'
import { type Role, roleOf } from '../../roles'
import { hashInvitationToken, looksLikeInvitationToken } from './token'

/** The data of an invitation's page. */
type InvitationView =
  | { state: 'unknown' }
  | { state: 'used' | 'revoked' | 'expired'; workspace: string }
  | {
      state: 'open'
      workspace: string
      slug: string
      role: Role
      email: string
      invitedBy: string | null
      expiresAt: string
      /** Whether this address already has an account. */
      known: boolean
      /** Whether that needs a new password to accept. */
      needsPassword: boolean
    }

export async function lookUpInvitation(
  { db, now }: Pick<Visitor, 'db' | 'now'>,
  token: string,
): Promise<InvitationView> {
  const found = await findInvitation(db, token)
  if (!found) return { state: 'unknown' }
  const { invitation, workspace, slug } = found
  const state = stateOf(invitation, now())
  if (state !== 'open') return { state, workspace }
  const [inviter] = await db.select({ name: users.name }).from(users).where(eq(users.id, invitation.createdBy))
  const known = await db.select({ id: users.id }).from(users).where(eq(users.email, invitation.email))
  const unproven = await unprovenPassword(db, invitation.email)
  return {
    state,
    workspace,
    slug,
    role: roleOf(invitation.role),
    email: invitation.email,
    invitedBy: inviter?.name ?? null,
    expiresAt: invitation.expiresAt.toISOString(),
    known: known.length > 0,
    needsPassword: unproven !== null,
  }
}

/**
 * The hash of a password chosen with an invitation link, without proof of owning the address: the inviter can open that
 * link too. It opens only the workspaces that it was chosen for. Null if the address is proven or has no user.
 */
export async function unprovenPassword(db: Db | Tx, email: string): Promise<string | null> {
  const [user] = await db
    .select({ hash: users.passwordHash, provenAt: users.addressProvenAt })
    .from(users)
    .where(eq(users.email, email))
  return user?.provenAt === null ? user.hash : null
}

type Row = typeof invitations.$inferSelect

export function stateOf(row: Row, now: Date): 'open' | 'used' | 'revoked' | 'expired' {
  if (row.acceptedAt) return 'used'
  if (row.revokedAt) return 'revoked'
  return row.expiresAt <= now ? 'expired' : 'open'
}

export async function findInvitation(db: Db | Tx, token: string) {
  if (!looksLikeInvitationToken(token)) return null
  const [row] = await db
    .select({ invitation: invitations, workspace: tenants.name, slug: tenants.slug })
    .from(invitations)
    .innerJoin(tenants, eq(tenants.id, invitations.tenantId))
    .where(eq(invitations.tokenHash, hashInvitationToken(token)))
  return row ?? null
}
