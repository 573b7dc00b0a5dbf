import { anyMatches, fromBase64, hmac, NO_SIGNATURE, type SchemeRules, timeRefusal, WRONG_SIGNATURE } from './scheme'

/** The Standard Webhooks specification: `v1,<base64>` over `<id>.<seconds>.<body>`, one for each secret in use. */
export const standard: SchemeRules = {
  refusal({ headers, bytes }, secrets, now) {
    const header = headers.get('webhook-signature')
    const id = headers.get('webhook-id')
    if (header === null || id === null) return NO_SIGNATURE
    const time = headers.get('webhook-timestamp')
    const given = header.split(' ').map((part) => (part.startsWith('v1,') ? fromBase64(part.slice(3)) : null))
    const expected = secrets.map((secret) => hmac(standardKey(secret), `${id}.${time}.`, bytes))
    if (!anyMatches(given, expected)) return WRONG_SIGNATURE
    return timeRefusal(time, now)
  },
  deliveryId: ({ headers }) => headers.get('webhook-id'),
}

const PREFIX = /^whsec_/

/** The key bytes of a secret. */
function standardKey(secret: string): Buffer {
  return Buffer.from(secret.replace(PREFIX, ''), 'base64')
}

export function isStandardSecret(secret: string): boolean {
  return /^[A-Za-z0-9+/]{16,}={0,2}$/.test(secret.replace(PREFIX, ''))
}
