import type { Db } from '@/db/index'
import type { Log } from '../log'

/** The context of a verb whose caller belongs to no tenant yet. */
export interface Visitor {
  readonly db: Db
  readonly headers: Headers
  readonly log: Log
  readonly now: () => Date
  readonly requestId: string
}
