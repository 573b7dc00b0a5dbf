import { createHmac } from 'node:crypto'

/** JSON in canonical form (RFC 8785), against which the SDK checks a signature. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, inner]) => inner !== undefined)
    entries.sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join(',')}}`
  }
  return JSON.stringify(value ?? null)
}

/** The `x-inngest-signature` header of a call. */
export function signature(key: string, body: unknown, atMs: number): string {
  const seconds = Math.floor(atMs / 1000)
  const secret = key.replace(/^signkey-\w+-/, '')
  const mac = createHmac('sha256', secret)
    .update(canonicalJson(body) + seconds)
    .digest('hex')
  return `t=${seconds}&s=${mac}`
}
