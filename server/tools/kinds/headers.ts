import { z } from 'zod'

/** Headers that belong to the connection. */
const OWN = /^(connection|content-length|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-.*)$/i

export const HeaderName = z
  .string()
  .max(100)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is not a header name')
  .refine((name) => !OWN.test(name), 'is set by the connection itself')

export const HeaderTemplates = z
  .record(HeaderName, z.string().max(8_000))
  .refine((headers) => Object.keys(headers).length <= 50, 'has more than 50 headers')
  .refine(
    (headers) => new Set(Object.keys(headers).map((name) => name.toLowerCase())).size === Object.keys(headers).length,
    'has the same header twice',
  )

/** Adds an idempotency key to the headers, if the call may change something and has none of its own. */
export function withKey(method: string, headers: Record<string, string>, key: string | null): Record<string, string> {
  const changes = method !== 'GET' && method !== 'HEAD'
  const has = Object.keys(headers).some((name) => name.toLowerCase() === 'idempotency-key')
  return changes && key !== null && !has ? { ...headers, 'idempotency-key': key } : headers
}

/** Whether a text can be a header value: no line breaks, only Latin-1. */
export function fitsHeader(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
}
