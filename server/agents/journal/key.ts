import { createHash } from 'node:crypto'

/** The longest key that receivers accept. */
const MAX_KEY = 255

/** The idempotency key of a tool call: the key of its turn's visit and its number. */
export function keyOfCall(base: string, seq: number): string {
  const key = `${base}:${seq}`
  return key.length <= MAX_KEY ? key : `${createHash('sha256').update(base).digest('hex')}:${seq}`
}
