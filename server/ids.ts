import { randomBytes } from 'node:crypto'

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
let lastTime = 0
let counter = 0

/**
 * A sortable id with a prefix: 48 bits of time, a 16-bit counter within the millisecond, 64 random bits. Ids from one
 * process sort in the order they were made.
 */
export function newId(prefix: string, now: number = Date.now()): string {
  if (now > lastTime) {
    lastTime = now
    counter = 0
  } else counter += 1
  const head = (BigInt(lastTime) << 16n) | BigInt(counter & 0xffff)
  const value = (head << 64n) | BigInt(`0x${randomBytes(8).toString('hex')}`)
  let text = ''
  for (let shift = 125n; shift >= 0n; shift -= 5n) text += ALPHABET[Number((value >> shift) & 31n)]
  return `${prefix}_${text}`
}

const ID = /^[A-Za-z0-9_-]{1,80}$/

/** Whether a text has the form of an id; callers do not look up anything else. */
export function isId(text: string): boolean {
  return ID.test(text)
}
