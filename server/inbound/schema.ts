import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import { component } from '../definition/component'
import { inexactIn, referencesOf } from '../definition/expression/fields'
import { parseExpression } from '../definition/expression/parse'
import { INBOUND_ROOTS, SCHEMES } from '../definition/inbound'
import { FieldName } from '../definition/schema'
import { TemplateSyntaxError } from '../definition/template'
import { wholeNumber } from '../query-values'
import { STORABLE } from '../storable-text'

/** An expression over what was sent, and nothing else. */
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

export const CreateInbound = component('CreateInbound', {
  name: Name,
  scheme: z.enum(SCHEMES),
  signatureHeader: HeaderName.nullable().default(null),
  encoding: z.enum(['hex', 'base64']).nullable().default(null),
  idHeader: HeaderName.nullable().default(null),
  secret: Secret.optional(),
  mapping: mapping.default({}),
  when: Over.nullable().default(null),
  enabled: z.boolean().default(true),
})

export const UpdateInbound = component('UpdateInbound', {
  name: Name.optional(),
  scheme: z.enum(SCHEMES).optional(),
  signatureHeader: HeaderName.nullable().optional(),
  encoding: z.enum(['hex', 'base64']).nullable().optional(),
  idHeader: HeaderName.nullable().optional(),
  mapping: mapping.optional(),
  when: Over.nullable().optional(),
  enabled: z.boolean().optional(),
})

export const RotateInbound = component('RotateInbound', {
  /** The sender's own; a new one is made without it. */
  secret: Secret.optional(),
  graceHours: z.number().min(0).max(720).default(24),
})

const text = z.string().max(10_000)
const texts = z.record(z.string().max(200), text)

export const TryInbound = component('TryInbound', {
  body: AnyJson.optional(),
  headers: texts.default({}),
  query: z.record(z.string().max(200), z.union([text, z.array(text).max(100)])).default({}),
  mapping: mapping.optional(),
  when: Over.nullable().optional(),
})

export const ListInboundDeliveries = z.object({
  status: z.enum(['started', 'filtered', 'invalid', 'refused']).optional(),
  limit: wholeNumber(1, 200).optional(),
  offset: wholeNumber(0, 999_999_999).optional(),
})
