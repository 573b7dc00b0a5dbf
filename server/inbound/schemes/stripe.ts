import {
  anyMatches,
  fromHex,
  hmac,
  NO_SIGNATURE,
  type SchemeRules,
  signedText,
  timeRefusal,
  WRONG_SIGNATURE,
} from './scheme'

const SIGNATURE = 'stripe-signature'

/** `Stripe-Signature: t=<seconds>,v1=<hex>[,v1=<hex>]` over `<seconds>.<body>`. */
export const stripe: SchemeRules = {
  refusal({ headers, bytes }, secrets, now) {
    const header = headers.get(SIGNATURE)
    if (header === null) return NO_SIGNATURE
    const time = timeOf(header)
    const expected = secrets.map((secret) => hmac(secret, `${time}.`, bytes))
    if (!anyMatches(valuesOf(header, 'v1').map(fromHex), expected)) return WRONG_SIGNATURE
    return timeRefusal(time, now)
  },
  deliveryId: (request) => signedText(request, 'id'),
  time: ({ headers }) => timeOf(headers.get(SIGNATURE) ?? ''),
}

const timeOf = (header: string) => valuesOf(header, 't')[0] ?? null

function valuesOf(header: string, name: string): string[] {
  const parts = header.split(',').map((part) => part.trim())
  return parts.filter((part) => part.startsWith(`${name}=`)).map((part) => part.slice(name.length + 1))
}
