import { createHash, randomBytes } from 'node:crypto'

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

function time(ms: number): string {
  let left = ms
  let text = ''
  for (let i = 0; i < 10; i++) {
    text = ALPHABET.charAt(left % 32) + text
    left = Math.floor(left / 32)
  }
  return text
}

function tail(bytes: Uint8Array): string {
  let text = ''
  for (let i = 0; i < 16; i++) text += ALPHABET.charAt((bytes[i] ?? 0) % 32)
  return text
}

/** A new ULID. */
export function newId(at: number): string {
  return time(at) + tail(randomBytes(16))
}

/** The ULID of the nth event of one `send`. A retried send makes the same ids, so no event counts twice. */
export function seededId(seed: string, index: number, at: number): string {
  const ms = Number(seed.split(',', 1)[0])
  const from = Number.isSafeInteger(ms) && ms > 0 && ms < 2 ** 48 ? ms : at
  return time(from) + tail(createHash('sha256').update(`${seed}:${index}`).digest())
}

/** A fixed-length hash of a value. */
export function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url')
}
