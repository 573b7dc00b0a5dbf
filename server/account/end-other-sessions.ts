import { revokeSessionsOf } from '../auth/sessions'
import type { Person } from './person'

/** Signs the person out of every other browser, from its next request on. */
export async function endOtherSessions({ user, db, now }: Person): Promise<{ ended: number }> {
  return { ended: await revokeSessionsOf(db, user.userId, now(), user.sessionId) }
}
