import { anyMatches, fromHex, hmac, NO_SIGNATURE, type SchemeRules, WRONG_SIGNATURE } from './scheme'

/** `X-Hub-Signature-256: sha256=<hex>` over the body, without a time. */
export const github: SchemeRules = {
  refusal({ headers, bytes }, secrets) {
    const header = headers.get('x-hub-signature-256')
    if (header === null) return NO_SIGNATURE
    const given = fromHex(header.replace(/^sha256=/, ''))
    const expected = secrets.map((secret) => hmac(secret, bytes))
    return anyMatches([given], expected) ? null : WRONG_SIGNATURE
  },
  deliveryId: ({ headers }) => headers.get('x-github-delivery'),
  ping: ({ headers }) => headers['x-github-event'] === 'ping',
}
