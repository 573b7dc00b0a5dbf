import { createHash } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'

/** The longest key that receivers accept. */
const MAX_KEY = 255

/** The id of the turn of an agent that a call of another turn hands a message to. */
export function handOverId(turnId: string, seq: number): string {
  return `${turnId}-${seq}`
}

/** The call that handed a message to the agent of a turn. */
export interface HandedOverBy {
  turnId: string
  seq: number
}

/** The same as a field of a turn or its calls; no field for a turn that a step or a caller began. */
export function handedOver(turnId: string): { handedOverBy?: HandedOverBy } {
  const at = turnId.lastIndexOf('-')
  return at === -1 ? {} : { handedOverBy: { turnId: turnId.slice(0, at), seq: Number(turnId.slice(at + 1)) } }
}

/** What the key of a turn that was handed over adds to that of its root, as SQL. */
export function keyBelow(id: SQL, rootId: SQL): SQL {
  return sql`replace(substr(${id}, length(${rootId}) + 1), '-', ':')`
}

/** The idempotency key of a tool call: the key of its turn's visit and its number. */
export function keyOfCall(base: string, seq: number): string {
  const key = `${base}:${seq}`
  return key.length <= MAX_KEY ? key : `${createHash('sha256').update(base).digest('hex')}:${seq}`
}
