import { Ajv2020 } from 'ajv/dist/2020'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import { ANY, conforms, join, listOf, NEVER, typeOf } from '@/server/definition/types/type'
import { foreignSchema, plainForeign } from '@/server/openapi/foreign'
import { schemaOfType } from '@/server/openapi/of-type'
import type { Schema } from '@/server/openapi/types'
import { schemaProblems } from '@/server/tools/json-schema'

const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false, ownProperties: true })

/** Whether a value matches the schema that a document has under a name. */
function matches(schemas: Record<string, Schema>, name: string, value: unknown): boolean {
  return ajv.validate({ components: { schemas }, $ref: `#/components/schemas/${name}` }, value) === true
}

const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, 0, 1.5, 7, '', 'a', 'long enough'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.record({ a: tie('value'), b: tie('value') }, { requiredKeys: [] }),
  ),
}))

const types = fc.constantFrom<JsonValue>('string', 'number', 'integer', 'boolean', 'null', 'object', 'array', [
  'string',
  'null',
])
const { schema: anySchema } = fc.letrec((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    fc.boolean(),
    fc.record({ type: types }),
    fc.record({
      enum: fc.array(fc.constantFrom<JsonValue>('a', 'b', 1, 2.5, null, true), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ const: fc.constantFrom<JsonValue>('a', 7, null) }),
    fc.record({ $ref: fc.constantFrom('#', '#/$defs/part', '#/$defs/none', '#/properties/a') }),
    fc.record({ oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }) }),
    fc.record({
      anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }),
      allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
    }),
    fc.record(
      { not: tie('schema'), minLength: fc.integer({ min: 0, max: 3 }), pattern: fc.constantFrom('^a') },
      { requiredKeys: [] },
    ),
    fc.record(
      {
        type: fc.constantFrom('array'),
        items: tie('schema'),
        prefixItems: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
      },
      { requiredKeys: ['type'] },
    ),
    fc.record(
      {
        type: fc.constantFrom('object'),
        properties: fc.record({ a: tie('schema'), b: tie('schema') }, { requiredKeys: [] }),
        required: fc.array(fc.constantFrom('a', 'b'), { maxLength: 2 }),
        additionalProperties: tie('schema'),
        patternProperties: fc.record({ '^b': tie('schema') }),
        title: fc.string(),
      },
      { requiredKeys: [] },
    ),
  ),
}))

test('has everything that generators need', () => {
  expect(plainForeign({ type: ['array', 'object'] })).toEqual({
    type: ['array', 'object'],
    items: {},
    additionalProperties: true,
  })
  expect(plainForeign({ enum: ['a', null] })).toEqual({ type: ['string', 'null'], enum: ['a', null] })
})

test('a value that matches a custom schema matches the document’s version of it', () => {
  let accepted = 0
  fc.assert(
    fc.property(anySchema, anySchema, anyValue, (written, part, value) => {
      if (typeof written === 'boolean') return
      const schema = { ...(written as JsonObject), $defs: { part } } as JsonObject
      // Definitions that nobody can save: a reference to a missing schema, or in a circle, where the order of checks
      // decides.
      if (schemaProblems(schema, 'schema').length > 0 || !ajv.validate(schema, value)) return
      accepted++
      const schemas = foreignSchema(schema, 'Main', (name) => `Main${name}`)
      expect(matches(schemas, 'Main', value), JSON.stringify({ schema, schemas, value })).toBe(true)
    }),
    { numRuns: 1_000 },
  )
  expect(accepted).toBeGreaterThan(20)
})

test('a value of a type matches the schema of the type', () => {
  expect([schemaOfType(ANY), schemaOfType(listOf(ANY)), schemaOfType(NEVER)]).toEqual([
    {},
    { type: 'array', items: {} },
    {},
  ])
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 3 }), fc.jsonValue({ maxDepth: 3 }), (one, other) => {
      const type = join(typeOf(one as JsonValue), typeOf(other as JsonValue))
      const schemas = { Type: schemaOfType(type) }
      for (const value of [one, other]) {
        expect(conforms(value as JsonValue, type)).toBe(true)
        expect(matches(schemas, 'Type', value), JSON.stringify({ schemas, value })).toBe(true)
      }
    }),
    { numRuns: 100 },
  )
})
