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

const TIME = 'x-slack-request-timestamp'

/** `X-Slack-Signature: v0=<hex>` over `v0:<seconds>:<body>`, with the seconds in a header of their own. */
export const slack: SchemeRules = {
  refusal({ headers, bytes }, secrets, now) {
    const header = headers.get('x-slack-signature')
    if (header === null) return NO_SIGNATURE
    const time = headers.get(TIME)
    const expected = secrets.map((secret) => hmac(secret, `v0:${time}:`, bytes))
    if (!anyMatches([fromHex(header.replace(/^v0=/, ''))], expected)) return WRONG_SIGNATURE
    return timeRefusal(time, now)
  },
  // Commands and buttons have none. Slack sends these once.
  deliveryId: (request) => signedText(request, 'event_id'),
  time: ({ headers }) => headers.get(TIME),
}
