import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newField, toFields, toSchema } from '@/app/(dashboard)/[tenant]/_versioned/schema-fields'
import { limitsText } from '@/app/(dashboard)/[tenant]/_versioned/schema-limits'
import { givenBy, inferSchema, sampleOf } from '@/app/(dashboard)/[tenant]/_versioned/schema-samples'
import type { JsonObject } from '@/server/definition/json'
import { mismatches, schemaProblems } from '@/server/tools/json-schema'
import { rounds } from '../support/rounds'

const plain = fc.record(
  {
    type: fc.constantFrom('string', 'number', 'integer', 'boolean'),
    description: fc.string(),
    enum: fc.array(fc.string()),
    minLength: fc.nat(),
  },
  { requiredKeys: ['type'] },
)
const odd = fc.oneof(
  fc.constant({}),
  fc.constant(true),
  fc.record({ type: fc.constant(['string', 'null']), description: fc.string() }),
  fc.record({ anyOf: fc.array(plain) }),
  fc.record({ $ref: fc.constant('#/$defs/x') }),
)
const name = fc.string().filter((text) => text !== '' && text !== '__proto__')
const { object } = fc.letrec((tie) => ({
  object: fc
    .record({
      properties: fc.option(fc.dictionary(name, tie('any'), { maxKeys: 4 }), { nil: undefined }),
      closed: fc.boolean(),
      description: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
      required: fc.option(fc.nat(), { nil: undefined }),
    })
    .map(({ properties, closed, description, required }) => ({
      type: 'object',
      ...(description === undefined ? {} : { description }),
      ...(properties ? { properties } : {}),
      ...(required === undefined ? {} : { required: Object.keys(properties ?? {}).slice(0, required % 4) }),
      ...(closed ? { additionalProperties: false } : {}),
    })),
  array: fc.record(
    { type: fc.constant('array'), items: tie('any'), description: fc.string(), minItems: fc.nat() },
    { requiredKeys: ['type'] },
  ),
  any: fc.oneof({ maxDepth: 3 }, plain, odd, tie('object'), tie('array')),
}))

describe('the table of a schema', () => {
  test('is lossless: converting rows back gives the same schema', () => {
    fc.assert(
      fc.property(object, (schema) => {
        const fields = toFields(schema as JsonObject)
        if (fields === null) throw new Error('an object without rows')
        expect(toSchema(schema as JsonObject, fields)).toEqual(schema)
      }),
      { numRuns: rounds(125, 2000) },
    )
  })

  test.each([{ type: 'string' }, {}, { type: 'object', required: ['gone'] }, { type: 'object', properties: [] }])(
    'is not offered for %j',
    (schema) => expect(toFields(schema as JsonObject)).toBeNull(),
  )

  test('changes only the row that was edited', () => {
    const schema = {
      type: 'object',
      properties: {
        a: { type: 'string', maxLength: 3 },
        b: { type: 'array', items: { type: 'object', properties: {} } },
      },
      required: ['a'],
      additionalProperties: false,
    }
    const [a, b] = toFields(schema) ?? []
    if (!a || !b) throw new Error('two rows')
    expect(
      toSchema(schema, [{ ...a, name: 'c', required: false }, { ...b, fields: [newField('n')] }, newField()]),
    ).toEqual({
      type: 'object',
      properties: {
        c: { type: 'string', maxLength: 3 },
        b: { type: 'array', items: { type: 'object', properties: { n: { type: 'string' } }, required: ['n'] } },
      },
      required: [],
      additionalProperties: false,
    })
  })
})

test.each([
  [{ type: 'string' }, null],
  [{ type: 'string', enum: ['billing', 'delivery', 'sales'] }, 'One of billing, delivery, sales'],
  [{ enum: ['', null, 2] }, 'One of "", null, 2'],
  [{ type: 'string', minLength: 1, maxLength: 200 }, 'At least 1 character, at most 200 characters'],
  [{ type: 'integer', exclusiveMinimum: 0, maximum: 9, default: 3 }, 'More than 0, at most 9, default 3'],
  [{ type: 'array', items: { type: 'string', enum: ['S', 'M'] }, maxItems: 2 }, 'At most 2 entries, each one of S, M'],
  [{ type: 'string', enum: [...'abcdefghijklmn'] }, 'One of a, b, c, d, e, f, g, h, i, j, k, l and 2 more'],
])('the table says what a value must be beyond its type: %j', (schema, text) => {
  const [field] = toFields({ type: 'object', properties: { field: schema } } as JsonObject) ?? []
  expect(field && limitsText(field)).toBe(text)
})

test('a schema inferred from an example is valid and matches the example', () => {
  const record = fc.dictionary(name, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 })
  fc.assert(
    fc.property(record, (example) => {
      const text = JSON.stringify(example)
      // Callers' values with such a name are refused.
      fc.pre(!text.includes('"__proto__"'))
      const value = JSON.parse(text) as JsonObject
      const schema = inferSchema(value)
      expect(schemaProblems(schema, 'outputSchema')).toEqual([])
      expect(mismatches(schema, value, 'data')).toEqual([])
    }),
  )
})

test('the sample of a simple schema matches it', () => {
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string' },
      mail: { type: 'string', format: 'email' },
      size: { type: 'integer', minimum: 7 },
      kind: { enum: ['x', 'y'] },
      tags: { type: 'array', items: { type: 'string' } },
      inner: { type: 'object', properties: { yes: { type: 'boolean' } }, required: ['yes'] },
    },
    required: ['name', 'mail', 'size', 'kind', 'tags', 'inner'],
    additionalProperties: false,
  }
  expect(mismatches(schema, sampleOf(schema), 'data')).toEqual([])
})

test('a test of a tool begins with values from the schema, and with nothing invented', () => {
  expect(givenBy(undefined)).toBeUndefined()
  expect(
    givenBy({ type: 'object', properties: { article: { type: 'string' } }, required: ['article'] }),
  ).toBeUndefined()
  const properties = {
    article: { type: 'string', examples: ['AX-210'] },
    amount: { type: 'number', default: 0 },
    unit: { const: 'piece' },
    kind: { enum: ['x', 'y'] },
    where: { type: 'object', properties: { city: { default: 'Bern' }, street: { type: 'string' } } },
  }
  expect(givenBy({ type: 'object', properties })).toEqual({
    article: 'AX-210',
    amount: 0,
    unit: 'piece',
    where: { city: 'Bern' },
  })
})
