import { sql } from 'drizzle-orm'
import { z } from 'zod'

/** A call below a turn: its number, after those of the calls that handed messages to its agent: `4.2`. */
export const CallPlace = z
  .string()
  .max(60)
  .regex(/^[1-9]\d{0,8}(\.[1-9]\d{0,8})*$/, 'must be the place of a call')

/** What the places of the calls of a turn, to which the call `c` belongs, begin with below the turn `t`. */
export const PLACE_OF_TURN = sql`replace(substr(c.turn_id || '-', length(t.id) + 2), '-', '.')`

/** The place of the call `c` below the turn `t`. */
export const CALL_PLACE = sql`(${PLACE_OF_TURN} || c.seq)`

/** Of a place: what the id of the call's own turn adds to the id of the turn above, and the number of the call. */
export function readPlace(place: string): { below: string; seq: number } {
  const end = place.lastIndexOf('.') + 1
  return { below: end === 0 ? '' : `-${place.slice(0, end - 1).replaceAll('.', '-')}`, seq: Number(place.slice(end)) }
}
