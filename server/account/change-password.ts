import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { users } from '@/db/schema/members'
import { NewPassword } from '../auth/new-user'
import { hashPassword, verifyPassword } from '../auth/password'
import { revokeSessionsOf } from '../auth/sessions'
import { AppError } from '../errors'
import { countAttempt } from '../http/rate-limit'
import { parseInput } from '../parse'
import type { Person } from './person'

const ChangePassword = z.object({ current: z.string().min(1, 'is needed').max(200), password: NewPassword })
export type ChangePasswordInput = z.input<typeof ChangePassword>

/**
 * Changes the password of a person who knows the current one. Ends every other session, because one of them may be the
 * reason for the change. Guesses are limited per person, separately from those of signed-out visitors.
 * @throws AppError INVALID_INPUT, CONFLICT for a person without a password, RATE_LIMITED
 */
export async function changePassword(person: Person, input: ChangePasswordInput): Promise<{ changed: true }> {
  const { current, password } = parseInput(ChangePassword, input)
  const { user, db, now } = person
  await countAttempt(`password:${user.userId}`, db, now())
  const [row] = await db.select({ hash: users.passwordHash }).from(users).where(eq(users.id, user.userId))
  if (!row?.hash) throw new AppError('CONFLICT', { message: 'You sign in without a password' })
  const { hash } = row
  if (!(await verifyPassword(current, hash)))
    throw new AppError('INVALID_INPUT', { details: [{ path: 'current', message: 'is not your password' }] })
  const passwordHash = await hashPassword(password)
  await db.transaction(async (tx) => {
    // Of two changes that start from the same password, only one succeeds.
    const changed = await tx
      .update(users)
      .set({ passwordHash })
      .where(and(eq(users.id, user.userId), eq(users.passwordHash, hash)))
      .returning({ id: users.id })
    if (changed.length === 0) throw new AppError('CONFLICT', { message: 'The password was changed meanwhile' })
    await revokeSessionsOf(tx, user.userId, now(), user.sessionId)
  })
  person.log.info({ userId: user.userId }, 'a password was changed')
  return { changed: true }
}
