import { and, eq, gt, isNull, lt, ne } from 'drizzle-orm'
import type { Db, Tx } from '@/db/index'
import { users } from '@/db/schema/members'
import { sessions } from '@/db/schema/sessions'
import { newId } from '../ids'
import { log } from '../log'

/** How long an unused browser stays signed in. */
export const SESSION_SECONDS = 30 * 24 * 3600
/** How often the use of a session is recorded and its end extended. */
const ROLL_MS = 24 * 3600_000
const SEEN_MS = 5 * 60_000

/** A signed-in person. */
export interface SessionUser {
  sessionId: string
  userId: string
  email: string
  name: string
}

/** @returns the session's id */
export async function startSession(db: Db | Tx, userId: string, agent: string | null, now: Date): Promise<string> {
  // Expired rows are useless; delete them now, when no page load is waiting.
  await db.delete(sessions).where(and(eq(sessions.userId, userId), lt(sessions.expiresAt, now)))
  const id = newId('ses')
  const expiresAt = new Date(now.getTime() + SESSION_SECONDS * 1000)
  const row = { id, userId, agent: agent?.slice(0, 200) ?? null, createdAt: now, lastSeenAt: now, expiresAt }
  await db.insert(sessions).values(row)
  return id
}

/**
 * The person of a session that has neither ended nor been revoked. Extends a session that was last extended a day ago.
 */
export async function touchSession(db: Db, sessionId: string, userId: string, now: Date): Promise<SessionUser | null> {
  const alive = and(
    eq(sessions.id, sessionId),
    eq(sessions.userId, userId),
    isNull(sessions.revokedAt),
    gt(sessions.expiresAt, now),
  )
  const [row] = await db
    .select({ email: users.email, name: users.name, seenAt: sessions.lastSeenAt, expiresAt: sessions.expiresAt })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(alive)
  if (!row) return null
  if (now.getTime() - row.seenAt.getTime() >= SEEN_MS) {
    const end = new Date(now.getTime() + SESSION_SECONDS * 1000)
    const rolled = end.getTime() - row.expiresAt.getTime() >= ROLL_MS ? { expiresAt: end } : {}
    // Not awaited: it must never slow down or fail a page.
    db.update(sessions)
      .set({ lastSeenAt: now, ...rolled })
      .where(alive)
      .catch((err: unknown) => log().warn({ err, sessionId }, 'could not record the use of a session'))
  }
  return { sessionId, userId, email: row.email, name: row.name }
}

export async function revokeSession(db: Db | Tx, sessionId: string, now: Date): Promise<void> {
  await db
    .update(sessions)
    .set({ revokedAt: now })
    .where(and(eq(sessions.id, sessionId), isNull(sessions.revokedAt)))
}

/**
 * Ends all sessions of a person.
 * @param except a session that stays
 * @returns how many ended
 */
export async function revokeSessionsOf(db: Db | Tx, userId: string, now: Date, except?: string): Promise<number> {
  const others = except === undefined ? undefined : ne(sessions.id, except)
  const ended = await db
    .update(sessions)
    .set({ revokedAt: now })
    .where(and(eq(sessions.userId, userId), isNull(sessions.revokedAt), gt(sessions.expiresAt, now), others))
    .returning({ id: sessions.id })
  return ended.length
}
