import { and, desc, eq, gt, isNull } from 'drizzle-orm'
import { users } from '@/db/schema/members'
import { sessions } from '@/db/schema/sessions'
import { AppError } from '../errors'
import type { Person } from './person'

const MAX_SESSIONS = 50

/** The person's own account: how they sign in, and where they are signed in, this session first. */
export async function getAccount({ user, db, now }: Person) {
  const [[row], open] = await Promise.all([
    db.select({ passwordHash: users.passwordHash }).from(users).where(eq(users.id, user.userId)),
    db
      .select({
        id: sessions.id,
        agent: sessions.agent,
        createdAt: sessions.createdAt,
        lastSeenAt: sessions.lastSeenAt,
      })
      .from(sessions)
      .where(and(eq(sessions.userId, user.userId), isNull(sessions.revokedAt), gt(sessions.expiresAt, now())))
      .orderBy(desc(sessions.lastSeenAt))
      .limit(MAX_SESSIONS),
  ])
  if (!row) throw new AppError('UNAUTHORIZED')
  return {
    name: user.name,
    email: user.email,
    /** False for people who sign in through an identity provider. */
    hasPassword: row.passwordHash !== null,
    sessions: open
      .toSorted((a, b) => Number(b.id === user.sessionId) - Number(a.id === user.sessionId))
      .map(({ id, agent, createdAt, lastSeenAt }) => ({
        agent,
        createdAt: createdAt.toISOString(),
        lastSeenAt: lastSeenAt.toISOString(),
        current: id === user.sessionId,
      })),
  }
}

export type Account = Awaited<ReturnType<typeof getAccount>>
