import { and, eq, gt, isNull, lt, ne } from 'drizzle-orm'
import type { Db, Tx } from '@/db/index'
import { users } from '@/db/schema/members'
import { sessions } from '@/db/schema/sessions'
import { newId } from '../ids'
import { log } from '../log'

/** How long a browser stays signed in that nobody uses. */
export const SESSION_SECONDS = 30 * 24 * 3600
/** How often it is written that a session is used, and its end moved. */
const ROLL_MS = 24 * 3600_000
const SEEN_MS = 5 * 60_000

/** Somebody who is signed in. */
export interface SessionUser {
  sessionId: string
  userId: string
  email: string
  name: string
}

/** @returns its id */
export async function startSession(db: Db | Tx, userId: string, agent: string | null, now: Date): Promise<string> {
  // Old rows say nothing any more; this is the one moment at which nobody waits for a page.
  await db.delete(sessions).where(and(eq(sessions.userId, userId), lt(sessions.expiresAt, now)))
  const id = newId('ses')
  const expiresAt = new Date(now.getTime() + SESSION_SECONDS * 1000)
  const row = { id, userId, agent: agent?.slice(0, 200) ?? null, createdAt: now, lastSeenAt: now, expiresAt }
  await db.insert(sessions).values(row)
  return id
}

/** The person of a session that is neither ended nor revoked; moves its end when it is a day old. */
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
    // Not waited for: it must never slow a page or fail it.
    db.update(sessions)
      .set({ lastSeenAt: now, ...rolled })
      .where(alive)
      .catch((err: unknown) => log().warn({ err, sessionId }, 'use of a session not noted'))
  }
  return { sessionId, userId, email: row.email, name: row.name }
}

export async function revokeSession(db: Db | Tx, sessionId: string, now: Date): Promise<void> {
  await db
    .update(sessions)
    .set({ revokedAt: now })
    .where(and(eq(sessions.id, sessionId), isNull(sessions.revokedAt)))
}

/** Everywhere at once. @param except a session that goes on @returns how many ended */
export async function revokeSessionsOf(db: Db | Tx, userId: string, now: Date, except?: string): Promise<number> {
  const others = except === undefined ? undefined : ne(sessions.id, except)
  const ended = await db
    .update(sessions)
    .set({ revokedAt: now })
    .where(and(eq(sessions.userId, userId), isNull(sessions.revokedAt), gt(sessions.expiresAt, now), others))
    .returning({ id: sessions.id })
  return ended.length
}
