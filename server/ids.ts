import { createHash, randomUUID } from 'node:crypto'
import { base32 } from '@/lib/base32'

let lastTime = 0
let counter = 0

/**
 * A sortable id with a prefix: 48 bits of time, a 16-bit counter within the millisecond, 64 random bits. Ids from one
 * process sort in creation order.
 */
export function newId(prefix: string, now: number = Date.now()): string {
  if (now > lastTime) {
    lastTime = now
    counter = 0
  } else counter += 1
  // Node fetches the randomness of many UUIDs in one call; between these parts, some bits of a UUID are fixed.
  const uuid = randomUUID()
  // The 80 bits after the time, in two halves: a number holds 53 bits exactly.
  const high = (counter & 0xffff) * 2 ** 24 + Number.parseInt(uuid.slice(0, 6), 16)
  const low = Number.parseInt(uuid.slice(6, 8) + uuid.slice(-8), 16)
  return `${prefix}_${base32(lastTime, 10)}${base32(high, 8)}${base32(low, 8)}`
}

const ID = /^[A-Za-z0-9_-]{1,80}$/

/** Whether a text has the form of an id; callers look up nothing else. */
export function isId(text: string): boolean {
  return ID.test(text)
}

export const ID_TAIL = 12

/** The end of a name that must be as distinct as an id, but shorter. */
export function idTail(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, ID_TAIL)
}
