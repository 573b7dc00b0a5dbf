import {
  anyMatches,
  fromHex,
  hmac,
  NO_SIGNATURE,
  type SchemeRules,
  textIn,
  timeRefusal,
  WRONG_SIGNATURE,
} from './scheme'

/** `Stripe-Signature: t=<seconds>,v1=<hex>[,v1=<hex>]` over `<seconds>.<body>`. */
export const stripe: SchemeRules = {
  refusal({ headers, bytes }, secrets, now) {
    const header = headers.get('stripe-signature')
    if (header === null) return NO_SIGNATURE
    const parts = header.split(',').map((part) => part.trim())
    const values = (name: string) =>
      parts.filter((part) => part.startsWith(`${name}=`)).map((part) => part.slice(name.length + 1))
    const [time = null] = values('t')
    const expected = secrets.map((secret) => hmac(secret, `${time}.`, bytes))
    if (!anyMatches(values('v1').map(fromHex), expected)) return WRONG_SIGNATURE
    return timeRefusal(time, now)
  },
  deliveryId: (_request, body) => textIn(body, 'id'),
}
