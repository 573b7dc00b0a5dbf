import type { Visitor } from '../auth/visitor'
import { now } from '../clock'
import { database } from '../database'
import { log } from '../log'

/** The context of a request by a person who belongs to no workspace, or has only a link. */
export function visitorOf({ headers, requestId }: Pick<Visitor, 'headers' | 'requestId'>): Visitor {
  return { headers, requestId, db: database().db, log: log().child({ requestId }), now }
}
