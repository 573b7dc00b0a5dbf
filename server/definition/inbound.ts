import type { JsonValue } from './json'

/** How the sender of an inbound webhook signs its requests; `server/inbound/schemes` has a file for each scheme. */
export const SCHEMES = ['github', 'stripe', 'slack', 'standard', 'hmac', 'none'] as const
export type Scheme = (typeof SCHEMES)[number]

/** A secret that a sender signs with, sealed. */
export type InboundSecret = {
  sealed: string
  createdAt: string
  /** When it expires, because another one replaced it; null for the newest. */
  endsAt: string | null
}

/** The values that the expressions of an inbound webhook can use. */
export interface Sent {
  body: JsonValue
  headers: Record<string, string>
  /** A parameter that was sent more than once has a list. */
  query: Record<string, string | string[]>
}
export const INBOUND_ROOTS: readonly string[] = ['body', 'headers', 'query']
