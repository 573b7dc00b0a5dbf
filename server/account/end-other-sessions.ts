import { revokeSessionsOf } from '../auth/sessions'
import type { Person } from './person'

/** Signs the person out everywhere but here: the very next request of another browser is refused. */
export async function endOtherSessions({ user, db, now }: Person): Promise<{ ended: number }> {
  return { ended: await revokeSessionsOf(db, user.userId, now(), user.sessionId) }
}
