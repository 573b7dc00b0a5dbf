import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Sent } from '../../definition/inbound'

/** A request as received: its signature covers these bytes. */
export interface Signed {
  headers: Headers
  bytes: Uint8Array
}

/** An inbound webhook's settings for the sender's signature. */
export interface Settings {
  signatureHeader: string | null
  encoding: 'hex' | 'base64' | null
  idHeader: string | null
}

/** A signature scheme of senders. */
export interface SchemeRules {
  /** Why a request is not from the sender; null if it is. Never revealed to the caller. */
  refusal(request: Signed, secrets: readonly string[], now: Date, settings: Settings): string | null
  /**
   * Identifies a delivery across repetitions; null without an id. An id in the body is read from the bytes: the content
   * type is not signed, so a replay could have the body parsed differently.
   */
  deliveryId(request: Signed, settings: Settings): string | null
  /** The signed time, which distinguishes deliveries with equal content. */
  time?(request: Signed): string | null
  /** Whether the sender is only testing the address. */
  ping?(sent: Sent): boolean
}

/** How far a signed time may be from now: later, recorded requests are rejected. */
export const TOLERANCE_MS = 5 * 60_000

export const NO_SIGNATURE = 'The signature is missing.'
export const WRONG_SIGNATURE = 'The signature does not match.'

export function hmac(secret: string | Uint8Array, ...parts: (string | Uint8Array)[]): Buffer {
  const hash = createHmac('sha256', secret)
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** Whether any of the signatures equals any of the expected ones. Runs in constant time. */
export function anyMatches(signatures: readonly (Buffer | null)[], expected: readonly Buffer[]): boolean {
  let found = false
  for (const signature of signatures)
    for (const right of expected)
      if (signature?.length === right.length && timingSafeEqual(signature, right)) found = true
  return found
}

export function fromHex(text: string): Buffer | null {
  return /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : null
}

/** Also base64url, and without padding. */
export function fromBase64(text: string): Buffer | null {
  return /^[\w+/-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : null
}

/** Why a time in seconds is not current; null if it is. */
export function timeRefusal(text: string | null, now: Date): string | null {
  if (text === null || !/^\d{1,12}$/.test(text)) return 'The time of the signature is missing.'
  const apartMs = Math.abs(now.getTime() - Number(text) * 1000)
  return apartMs > TOLERANCE_MS ? 'The time of the signature is more than five minutes from now.' : null
}

/** A top-level text in the signed JSON, which may be the field `payload` of a form. */
export function signedText({ bytes }: Signed, name: string): string | null {
  const text = new TextDecoder().decode(bytes)
  const json = text.startsWith('payload=') ? (new URLSearchParams(text).get('payload') ?? '') : text
  try {
    return textIn(JSON.parse(json), name)
  } catch {
    return null
  }
}

/** A top-level text in a JSON body. */
export function textIn(body: unknown, name: string): string | null {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return null
  const value = Object.hasOwn(body, name) ? Reflect.get(body, name) : null
  return typeof value === 'string' && value !== '' ? value : null
}
