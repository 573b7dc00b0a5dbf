import { createHash, randomBytes } from 'node:crypto'
import { base32 } from '@/lib/base32'

const time = (ms: number) => base32(ms, 10)
const TAIL = 16
const tail = (bytes: Buffer) => Array.from(bytes.subarray(0, TAIL), (byte) => base32(byte, 1)).join('')

/** Random bytes for the next ids: fetching them one id at a time takes longer than all else about an id. */
let random = randomBytes(0)

/** A new ULID. */
export function newId(at: number): string {
  if (random.length < TAIL) random = randomBytes(256 * TAIL)
  const mine = random.subarray(0, TAIL)
  random = random.subarray(TAIL)
  return time(at) + tail(mine)
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
