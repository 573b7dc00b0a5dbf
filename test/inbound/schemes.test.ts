import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Scheme } from '@/server/definition/inbound'
import { schemes } from '@/server/inbound/schemes/registry'
import { NO_SIGNATURE, type Settings, WRONG_SIGNATURE } from '@/server/inbound/schemes/scheme'
import { signingKeyOf } from '@/server/webhooks/secrets'
import { signedHeaders } from '@/server/webhooks/sign'

// The vectors are those of the schemes' own documentation where it has one.

const PLAIN: Settings = { signatureHeader: 'x-signature', encoding: 'hex', idHeader: 'x-delivery' }
const LATE = 'The time of the signature is more than five minutes from now.'

interface Vector {
  scheme: Scheme
  secret: string
  body: string
  headers: Record<string, string>
  /** The signed time in seconds, where there is one. */
  time?: number
  settings?: Settings
}

const slackBody =
  'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c'
const hello = { secret: "It's a Secret to Everybody", body: 'Hello, World!' }
const HELLO = '757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'
const event = '{"id":"evt_1","type":"charge.succeeded"}'
const stripeSigned = createHmac('sha256', 'whsec_stripe').update(`1492774577.${event}`).digest('hex')

const VECTORS: Record<string, Vector> = {
  GitHub: { scheme: 'github', ...hello, headers: { 'x-hub-signature-256': `sha256=${HELLO}` } },
  Stripe: {
    scheme: 'stripe',
    secret: 'whsec_stripe',
    body: event,
    headers: { 'stripe-signature': `t=1492774577,v0=old,v1=${'0'.repeat(64)},v1=${stripeSigned}` },
    time: 1492774577,
  },
  Slack: {
    scheme: 'slack',
    secret: '8f742231b10e8888abcd99yyyzzz85a5',
    body: slackBody,
    headers: {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    },
    time: 1531420618,
  },
  'Standard Webhooks': {
    scheme: 'standard',
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    body: '{"test": 2432232314}',
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1a,other v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    time: 1614265330,
  },
  'HMAC in hex': { scheme: 'hmac', ...hello, headers: { 'x-signature': HELLO.toUpperCase() }, settings: PLAIN },
  'HMAC in base64': {
    scheme: 'hmac',
    ...hello,
    headers: { 'x-signature': Buffer.from(HELLO, 'hex').toString('base64') },
    settings: { ...PLAIN, encoding: 'base64' },
  },
}

const check = (vector: Vector, change: Partial<Vector> & { secrets?: string[]; after?: number } = {}) => {
  const { scheme, secret, body, headers, time = 1_600_000_000, settings = PLAIN } = { ...vector, ...change }
  const request = { headers: new Headers(headers), bytes: Buffer.from(body) }
  const now = new Date((time + (change.after ?? 0)) * 1000)
  return schemes[scheme].refusal(request, change.secrets ?? [secret], now, settings)
}

describe.each(Object.entries(VECTORS))('%s', (_name, vector) => {
  test('accepts what its sender signed, with either of two secrets', () => {
    expect(check(vector)).toBe(null)
    expect(check(vector, { secrets: ['another secret', vector.secret] })).toBe(null)
  })

  test('refuses another body, another secret, no signature and half of one', () => {
    expect(check(vector, { body: `${vector.body} ` })).toBe(WRONG_SIGNATURE)
    expect(check(vector, { secret: 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAA' })).toBe(WRONG_SIGNATURE)
    expect(check(vector, { secrets: [] })).toBe(WRONG_SIGNATURE)
    expect(check(vector, { headers: {} })).toBe(NO_SIGNATURE)
    for (const [name, value] of Object.entries(vector.headers).filter(([name]) => /signature/.test(name))) {
      for (const bad of [value.slice(0, -3), `${value}aa`, '', 'sha256=', 'v1=', 'v0=zz'])
        expect(check(vector, { headers: { ...vector.headers, [name]: bad } }), bad).not.toBe(null)
    }
  })

  if (vector.time === undefined) return
  test('refuses a signature of more than five minutes ago, or ahead', () => {
    for (const after of [300, -300]) expect(check(vector, { after })).toBe(null)
    for (const after of [301, -301]) expect(check(vector, { after })).toBe(LATE)
  })
})

test('another installation’s webhook is accepted, also while it has two secrets', () => {
  const [secret, body, at] = [`whsec_${'b'.repeat(32)}`, '{"type":"run.completed","note":"ü"}', 1_700_000_000]
  const headers = signedHeaders({ id: 'msg_1', body }, new Date(at * 1000), [
    Buffer.from('another'),
    signingKeyOf(secret),
  ])
  expect(check({ scheme: 'standard', secret, body, headers, time: at })).toBe(null)
})

test('a signed time is part of the signature: another one is refused, however fresh', () => {
  const { Slack, Stripe } = VECTORS as { Slack: Vector; Stripe: Vector }
  const later = { 'x-slack-request-timestamp': '1531420918' }
  expect(check(Slack, { headers: { ...Slack.headers, ...later }, after: 300 })).toBe(WRONG_SIGNATURE)
  const header = Stripe.headers['stripe-signature']?.replace('1492774577', '1492774578') ?? ''
  expect(check(Stripe, { headers: { 'stripe-signature': header } })).toBe(WRONG_SIGNATURE)
})
