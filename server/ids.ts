import { createHash, randomUUID } from 'node:crypto'

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
  return `${prefix}_${base32(hexOf(lastTime, 12) + hexOf(counter & 0xffff, 4) + randomHex())}`
}

/** 16 digits. Node fetches the randomness of many UUIDs at once; between these parts, some bits of a UUID are fixed. */
function randomHex(): string {
  const uuid = randomUUID()
  return uuid.slice(0, 8) + uuid.slice(-8)
}

function hexOf(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0')
}

/** 128 bits as 26 characters of 5 bits, the first two of which are 0. */
function base32(hex: string): string {
  let text = ''
  let held = 0
  let bits = 2
  for (const digit of hex) {
    held = (held << 4) | Number.parseInt(digit, 16)
    bits += 4
    if (bits < 5) continue
    bits -= 5
    text += ALPHABET[held >> bits]
    held &= (1 << bits) - 1
  }
  return text
}

const ID = /^[A-Za-z0-9_-]{1,80}$/

/** Whether a text has the form of an id; callers do not look up anything else. */
export function isId(text: string): boolean {
  return ID.test(text)
}

export const ID_TAIL = 12

/** The end of a name that must be as distinct as an id, and shorter. */
export function idTail(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, ID_TAIL)
}
