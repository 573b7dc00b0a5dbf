import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { choicesAs, choicesText, meansChoices, readChoices } from '@/app/(dashboard)/[tenant]/_fields/choices'
import { derivedName } from '@/app/(dashboard)/[tenant]/_fields/derived-name'
import { FIELD_KINDS, kindOf, partsOfKind } from '@/app/(dashboard)/[tenant]/_fields/kinds'
import { newField, toFields, toSchema } from '@/app/(dashboard)/[tenant]/_versioned/schema-fields'
import {
  kindsFor,
  SCHEMA_KINDS,
  kindOf as schemaKind,
  withKind,
  withLimits,
} from '@/app/(dashboard)/[tenant]/_versioned/schema-kinds'
import { inferSchema } from '@/app/(dashboard)/[tenant]/_versioned/schema-samples'
import { readDraft } from '@/app/(dashboard)/[tenant]/inbox/answer/answer-values'
import { readTyped } from '@/app/(dashboard)/[tenant]/workflows/start-values'
import { checkFields } from '@/server/definition/fields'
import { type Field, FieldName, type Fields } from '@/server/definition/schema'
import { mismatches } from '@/server/tools/json-schema'
import { rounds } from '../support/rounds'

describe('the name of a field', () => {
  test('follows its label', () => {
    const names = ['Order number', 'E-mail of the customer', 'IBAN', 'orderId', 'Größe (cm)', '2nd reason', '顧客']
    expect(names.map((label) => derivedName(label))).toEqual([
      'orderNumber',
      'eMailOfTheCustomer',
      'iban',
      'orderId',
      'grosseCm',
      '_2ndReason',
      'field',
    ])
    expect(derivedName('Order', new Set(['order', 'order_2']))).toBe('order_3')
  })

  test('is always one that run data may have, and never one that is taken', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.array(fc.string()), (label, others) => {
        const taken = new Set([...others, derivedName(label)])
        const name = derivedName(label, taken)
        expect(FieldName.safeParse(name).success).toBe(true)
        expect(taken.has(name)).toBe(false)
      }),
      { numRuns: rounds(300, 20_000) },
    )
    for (const label of ['_', '__proto__', 'constructor', 'Prototype'])
      expect(FieldName.safeParse(derivedName(label)).success).toBe(true)
  })
})

/** As JSON, which has no parts that are undefined. */
const stored = (field: object): Field => JSON.parse(JSON.stringify(field))

describe('the type of a field', () => {
  test('is the one that was chosen, whichever the field had before', () => {
    for (const before of FIELD_KINDS) {
      for (const kind of FIELD_KINDS) {
        const first = stored({ minimum: 1, ...partsOfKind({ type: 'string' }, before) })
        const field = stored({ ...first, ...partsOfKind(first, kind) })
        expect(kindOf(field)).toBe(kind)
        if (kind !== 'number' && kind !== 'integer') expect(field.minimum).toBeUndefined()
      }
    }
  })

  test('of a schema comes back from its JSON with its limits', () => {
    for (const kind of SCHEMA_KINDS.filter((one) => one !== 'other')) {
      const field = { ...newField('it'), ...withKind(kind) }
      const limited = { ...field, ...withLimits(field, { enum: ['a'], minimum: 1, maximum: undefined }) }
      const rows = toFields(toSchema({}, kind === 'any' ? [field] : [limited]))
      expect(rows?.map(schemaKind)).toEqual([kind])
      if (kind !== 'any') expect(rows?.[0]?.keep).toMatchObject({ enum: ['a'], minimum: 1 })
      expect(rows?.[0]?.keep).not.toHaveProperty('maximum')
    }
  })
})

test('an agent’s answer offers no long text, which models with a strict schema do not know', () => {
  const offered = (kind: Parameters<typeof withKind>[0], inForms: boolean) =>
    kindsFor({ ...newField('it'), ...withKind(kind) }, inForms)
  expect(offered('string', true)).toContain('long-text')
  expect(offered('string', false)).toContain('date')
  expect(offered('string', false)).not.toContain('long-text')
  expect(offered('long-text', false)).toContain('long-text')
  expect(offered('string', true)).not.toContain('other')
})

test('choices are values of the field’s type', () => {
  expect(readChoices('a, 1 ,,b', 'string')).toEqual(['a', '1', 'b'])
  expect(readChoices('1, 2.5, x', 'number')).toEqual([1, 2.5, 'x'])
  expect(readChoices(' , ', 'string')).toBeUndefined()
  expect(choicesText([1, 'a', { b: 2 }])).toBe('1, a, {"b":2}')
  // A change of the type splits no choice.
  expect(choicesAs(['a, b', '1'], 'number')).toEqual(['a, b', 1])
  expect(choicesAs([1, { b: 2 }], 'string')).toEqual(['1', '{"b":2}'])
  expect(meansChoices('a, b', 'string', ['a', 'b'])).toBe(true)
  expect(meansChoices('a, b', 'string', ['a, b'])).toBe(false)
  expect(meansChoices('', 'string', undefined)).toBe(true)
})

test('forms refuse what the server would refuse, before it is sent', () => {
  const fields: Fields = {
    due: { type: 'string', format: 'date' },
    mail: { type: 'string', format: 'email', required: false, default: 'ada@example.com' },
    amount: { type: 'number', minimum: 1, maximum: 10 },
    note: { type: 'string', format: 'long-text' },
  }
  const good = { due: '2026-07-01', mail: 'bob@example.com', amount: '10', note: 'a\nb' }
  const values = { due: '2026-07-01', mail: 'bob@example.com', amount: 10, note: 'a\nb' }
  expect(readTyped(fields, good)).toMatchObject({ data: values, errors: {} })
  expect(readDraft(fields, good)).toEqual({ data: values, errors: {} })
  const bad = { due: '2026-02-30', mail: '', amount: '0', note: 'x' }
  const errors = { due: 'Must be a date, such as 2026-07-01', mail: 'Required', amount: 'Must be at least 1' }
  expect(readTyped(fields, bad).errors).toEqual(errors)
  expect(readDraft(fields, bad).errors).toEqual(errors)
})

test('forms refuse the choices that the server would refuse', () => {
  const fields: Fields = {
    due: { type: 'string', format: 'date', options: ['2026-07-01', 'soon'] },
    amount: { type: 'number', minimum: 1, options: [0, 5] },
  }
  for (const due of ['2026-07-01', 'soon'])
    for (const amount of [0, 5]) {
      const refused = checkFields(fields, { due, amount }).details.map(({ path }) => path)
      const typed = { due: JSON.stringify(due), amount: JSON.stringify(amount) }
      expect(Object.keys(readTyped(fields, typed).errors)).toEqual(refused)
      expect(Object.keys(readDraft(fields, typed).errors)).toEqual(refused)
    }
})

test('an answer matches the schema made from it, also with further fields if it is an open one', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (answer) => {
      const schema = inferSchema(answer as never, { open: true })
      expect(mismatches(schema, answer as never, '')).toEqual([])
      expect(JSON.stringify(schema)).not.toContain('additionalProperties')
    }),
    { numRuns: rounds(200, 5000) },
  )
  const schema = inferSchema([{ id: 1, name: 'A' }, { id: 2 }], { open: true })
  expect(mismatches(schema, [{ id: 3, more: true }], '')).toEqual([])
  expect(mismatches(schema, [{ name: 'B' }], '')).not.toEqual([])
})
