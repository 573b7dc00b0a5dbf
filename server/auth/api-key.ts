import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SHAPE = /^sk_[A-Za-z0-9_-]{8,200}$/
const GENERATED = /^sk_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/

/** `sk_`, 32 random base62 characters (190 bits), 6 checksum characters. */
export function generateApiKey(): string {
  let body = ''
  while (body.length < 32) {
    // 248 is the largest multiple of 62 below 256; larger bytes would favour some characters.
    for (const byte of randomBytes(48)) if (byte < 248 && body.length < 32) body += BASE62[byte % 62]
  }
  return `sk_${body}${checksum(body)}`
}

/** Whether a text has the form of a key; callers look up nothing else. */
export function looksLikeApiKey(key: string): boolean {
  return SHAPE.test(key)
}

/**
 * Whether a key of the generated form was mistyped. Only a hint for the log: a key an operator chose
 * (`BOOTSTRAP_API_KEY`) may have the same form without a checksum, so this must not decide anything.
 */
export function looksMistyped(key: string): boolean {
  const parts = GENERATED.exec(key)
  return parts?.[1] !== undefined && checksum(parts[1]) !== parts[2]
}

export function hashApiKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}

/** Compares two digests in constant time. */
export function sameHash(a: string, b: string): boolean {
  const left = Buffer.from(a, 'hex')
  const right = Buffer.from(b, 'hex')
  return left.length === right.length && timingSafeEqual(left, right)
}

export function hintOf(key: string): string {
  return `${key.slice(0, 7)}…${key.slice(-4)}`
}

function checksum(body: string): string {
  let value = crc32(body)
  let text = ''
  for (let i = 0; i < 6; i++) {
    text = BASE62[value % 62] + text
    value = Math.floor(value / 62)
  }
  return text
}

/** CRC-32 (IEEE). Node has one built in only since 20.15. */
function crc32(text: string): number {
  let crc = 0xffffffff
  for (const byte of Buffer.from(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return (crc ^ 0xffffffff) >>> 0
}
