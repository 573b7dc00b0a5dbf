import { anyMatches, fromBase64, fromHex, hmac, NO_SIGNATURE, type SchemeRules, WRONG_SIGNATURE } from './scheme'

/**
 * A header of any name with the HMAC-SHA256 of the body, in hex or base64, with or without `sha256=`, and without a
 * time.
 */
export const plain: SchemeRules = {
  refusal({ headers, bytes }, secrets, _now, { signatureHeader, encoding }) {
    const header = headers.get(signatureHeader ?? '-')
    if (header === null) return NO_SIGNATURE
    const text = header.replace(/^sha256=/i, '')
    const given = encoding === 'base64' ? fromBase64(text) : fromHex(text)
    const expected = secrets.map((secret) => hmac(secret, bytes))
    return anyMatches([given], expected) ? null : WRONG_SIGNATURE
  },
  deliveryId: ({ headers }, { idHeader }) => (idHeader === null ? null : headers.get(idHeader)),
}
