import '../definition/zod-words'
import { createHash } from 'node:crypto'
import { and, eq, gt, isNull } from 'drizzle-orm'
import { z } from 'zod'
import type { Db } from '@/db/index'
import { invitations } from '@/db/schema/invitations'
import { users } from '@/db/schema/members'
import { countAttempt } from '../http/rate-limit'
import { readDevice } from './device'
import { insertUser, proveAddress } from './new-user'
import { verifyPassword } from './password'

const Credentials = z.object({ email: z.email().max(254).toLowerCase(), password: z.string().min(1).max(200) })
/** Checked if no such person exists, so that the response takes just as long. */
const DUMMY_HASH = `scrypt$32768$8$1$${'A'.repeat(22)}==$${'A'.repeat(43)}=`

/** The source of an attempt to sign in. */
export interface Client {
  address: string
  headers: Headers
}

/**
 * The person with this address and password. Null if either is wrong, always after the same time. Attempts are limited
 * per client address and per account; those of a browser that the account knows have a limit of their own, so that
 * nobody else can lock its owner out.
 * @throws AppError RATE_LIMITED
 */
export async function checkPassword(
  db: Db,
  input: unknown,
  from: Client,
  now: Date,
): Promise<{ userId: string; email: string; name: string } | null> {
  const parsed = Credentials.safeParse(input)
  const device = parsed.success ? await readDevice(from.headers, parsed.data.email) : null
  if (device === null) await countAttempt(`sign-in:${from.address}`, db, now)
  if (!parsed.success) return null
  const { email, password } = parsed.data
  // A digest, because people may type anything there, even a password.
  const account = `account:${createHash('sha256').update(email).digest('hex')}`
  await countAttempt(device === null ? account : `device:${device}`, db, now)
  const [user] = await db.select().from(users).where(eq(users.email, email))
  const right = await verifyPassword(password, user?.passwordHash ?? DUMMY_HASH)
  return user && right ? { userId: user.id, email: user.email, name: user.name } : null
}

/**
 * The person whose address an identity provider vouches for: an existing user, or an invited one, who becomes a user
 * now. Accepting an invitation sets a password without proof of the address, so anyone with the link, including the
 * inviter, may have done it. When the address's owner first signs in here, that password and its sessions end.
 * @returns null for everyone else
 */
export async function admitByAddress(
  db: Db,
  given: { email: string; name: string | null },
  now: Date,
): Promise<{ userId: string } | null> {
  const email = given.email.toLowerCase()
  return db.transaction(async (tx) => {
    const [user] = await tx.select().from(users).where(eq(users.email, email)).for('update')
    if (user) {
      if (user.addressProvenAt === null) await proveAddress(tx, user.id, null, now)
      return { userId: user.id }
    }
    const open = and(
      eq(invitations.email, email),
      isNull(invitations.acceptedAt),
      isNull(invitations.revokedAt),
      gt(invitations.expiresAt, now),
    )
    const [invited] = await tx.select({ id: invitations.id }).from(invitations).where(open).limit(1)
    if (!invited) return null
    const name = given.name?.trim().slice(0, 200) || email
    const userId = await insertUser(tx, { email, name, passwordHash: null, addressProvenAt: now }, now)
    // Null if the same person signs in twice concurrently; trying again a moment later works.
    return userId === null ? null : { userId }
  })
}
