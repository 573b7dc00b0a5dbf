import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import { component, components } from '../definition/component'
import { inexactIn, referencesOf } from '../definition/expression/fields'
import { parseExpression } from '../definition/expression/parse'
import { INBOUND_ROOTS, SCHEMES } from '../definition/inbound'
import { FieldName } from '../definition/schema'
import { TemplateSyntaxError } from '../definition/template'
import { STORABLE } from '../query/storable-text'
import { wholeNumber } from '../query/values'

/** An expression over the sent data alone. */
const Over = z
  .string()
  .max(4_000)
  .superRefine((text, issues) => {
    const refuse = (message: string) => issues.addIssue({ code: 'custom', message })
    try {
      const strange = referencesOf(parseExpression(text)).find(
        ({ reference }) => !INBOUND_ROOTS.includes(reference.root),
      )
      const inexact = inexactIn(text)
      if (inexact) refuse(inexact)
      if (strange) refuse(`uses \${${strange.reference.source}}; it can use \${body…}, \${headers…} and \${query…}`)
    } catch (err) {
      if (!(err instanceof TemplateSyntaxError)) throw err
      refuse(`is not a valid expression: ${err.message}`)
    }
  })

const Name = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .refine(...STORABLE)

const HeaderName = z
  .string()
  .trim()
  .regex(/^[A-Za-z0-9-]{1,100}$/, 'must be the name of a header, such as X-Signature')
  .transform((name) => name.toLowerCase())

const Secret = z
  .string()
  .trim()
  .min(8)
  .max(500)
  .regex(/^[\x20-\x7e]*$/, 'must be printable ASCII')

const mapping = z.record(FieldName, Over)

const settings = {
  name: Name.describe('For people.'),
  scheme: z
    .enum(SCHEMES)
    .describe(
      'How the sender signs: as GitHub, Stripe or Slack do, as the Standard Webhooks specification says, or with an HMAC-SHA256 of the body in a header. With `none`, anybody who knows the address can start runs.',
    ),
  signatureHeader: HeaderName.nullable().describe('The header with the signature; for `hmac`, which needs it.'),
  encoding: z.enum(['hex', 'base64']).nullable().describe('Of the signature, for `hmac`: `hex` by default.'),
  idHeader: HeaderName.nullable().describe(
    'For `hmac` and `none`: the header that identifies a delivery. It is not signed. Without one, equal deliveries within five minutes count as one.',
  ),
  mapping: mapping.describe(
    'An expression for each START field, over `${body…}`, `${headers…}` and `${query…}`. A field without one gets the field of the body with the same name.',
  ),
  when: Over.nullable().describe('An expression that decides whether a delivery starts a run.'),
  enabled: z.boolean().describe('False pauses it: its requests get 409.'),
}

export const CreateInbound = component('CreateInbound', {
  name: settings.name,
  scheme: settings.scheme,
  signatureHeader: settings.signatureHeader.default(null),
  encoding: settings.encoding.default(null),
  idHeader: settings.idHeader.default(null),
  secret: Secret.optional().describe(
    'The sender’s own. Without it a secret is generated, except for Stripe and Slack, which have their own.',
  ),
  mapping: settings.mapping.default({}),
  when: settings.when.default(null),
  enabled: settings.enabled.default(true),
})

export const UpdateInbound = z.object(settings).partial().register(components, { id: 'UpdateInbound' })

export const RotateInbound = component('RotateInbound', {
  secret: Secret.optional().describe(
    'The sender’s own. Without it a secret is generated, except for Stripe and Slack.',
  ),
  graceHours: z
    .number()
    .min(0)
    .max(720)
    .default(24)
    .describe('How long the old secret is accepted along with the new one; 0 ends it at once.'),
})

const text = z.string().max(10_000)
const texts = z.record(z.string().max(200), text)

export const TryInbound = component('TryInbound', {
  body: AnyJson.optional().describe('What would be sent; an empty object if left out.'),
  headers: texts.default({}).describe('By name.'),
  query: z
    .record(z.string().max(200), z.union([text, z.array(text).max(100)]))
    .default({})
    .describe('By name.'),
  mapping: mapping.optional().describe('Instead of the one that is saved.'),
  when: Over.nullable().optional().describe('Instead of the one that is saved.'),
})

export const ListInboundDeliveries = z.object({
  status: z
    .enum(['started', 'filtered', 'invalid', 'refused'])
    .optional()
    .describe('Only deliveries with this status.'),
  limit: wholeNumber(1, 200).optional().describe('The maximum to return, 50 by default.'),
  offset: wholeNumber(0, 999_999_999).optional().describe('How many to skip.'),
})
