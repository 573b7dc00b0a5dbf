import type { Scheme } from '../../definition/inbound'
import { github } from './github'
import { plain } from './hmac'
import { none } from './none'
import type { SchemeRules } from './scheme'
import { slack } from './slack'
import { standard } from './standard'
import { stripe } from './stripe'

export const schemes: Record<Scheme, SchemeRules> = { github, stripe, slack, standard, hmac: plain, none }

/** Headers that hold a signature, and so are not stored. */
export const SIGNATURE_HEADERS: readonly string[] = [
  'x-hub-signature',
  'x-hub-signature-256',
  'stripe-signature',
  'x-slack-signature',
  'webhook-signature',
]
