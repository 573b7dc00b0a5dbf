import '../definition/zod-words'
import { eq } from 'drizzle-orm'
import { z } from 'zod'
import type { Tx } from '@/db/index'
import { users } from '@/db/schema/members'
import { newId } from '../ids'
import { revokeSessionsOf } from './sessions'

export const Email = z.email('must be an address such as ada@example.com').max(254).toLowerCase()
export const PersonName = z.string().trim().min(1, 'is needed').max(200)
export const NewPassword = z
  .string()
  .min(12, 'must have at least 12 characters')
  .max(200, 'must have at most 200 characters')

/** @returns the id; null if the address is already taken */
export async function insertUser(
  tx: Tx,
  user: { email: string; name: string; passwordHash: string | null; addressProvenAt: Date | null },
  now: Date,
): Promise<string | null> {
  const [created] = await tx
    .insert(users)
    .values({ id: newId('usr'), ...user, createdAt: now })
    .onConflictDoNothing({ target: users.email })
    .returning({ id: users.id })
  return created?.id ?? null
}

/**
 * Notes that a user's address is proven to be their own. Until now, anyone with the link of an invitation, including
 * the inviter, may have set the password, so that and its sessions end.
 */
export async function proveAddress(tx: Tx, userId: string, passwordHash: string | null, now: Date): Promise<void> {
  await tx.update(users).set({ addressProvenAt: now, passwordHash }).where(eq(users.id, userId))
  await revokeSessionsOf(tx, userId, now)
}
