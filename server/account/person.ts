import 'server-only'
import type { Db } from '@/db/index'
import type { SessionUser } from '../auth/sessions'
import type { Log } from '../log'

/** A signed-in person, independent of any workspace. */
export interface Person {
  readonly user: SessionUser
  readonly db: Db
  readonly log: Log
  readonly now: () => Date
}
