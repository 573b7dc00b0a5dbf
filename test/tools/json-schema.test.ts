import { describe, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import { mismatches, schemaProblems } from '@/server/tools/json-schema'
import { quickest } from '../support/patience'

const problems = (schema: JsonObject) => schemaProblems(schema, 'inputSchema')
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...more })

describe('schemas that can be saved', () => {
  test.each<[string, JsonObject]>([
    ['nothing at all', {}],
    ['the usual', object({ a: { type: 'string', minLength: 1, pattern: '^[\\w.-]+$' } }, { required: ['a'] })],
    ['another dialect', { $schema: 'http://json-schema.org/draft-07/schema#', ...object({}) }],
    [
      'definitions',
      { $defs: { a: { type: 'string' } }, ...object({ x: { $ref: '#/$defs/a' }, y: { $ref: '#/$defs/a' } }) },
    ],
    ['formats', object({ a: { type: 'string', format: 'date-time' }, b: { format: 'unheard-of' } })],
    [
      'properties named like keywords',
      object({ $ref: { type: 'string' }, pattern: {}, default: {}, id: {}, const: {} }),
    ],
  ])('%s', (_, schema) => {
    expect(problems(schema)).toEqual([])
  })

  const bomb: JsonObject = {
    $defs: Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [
        `d${i}`,
        i === 29 ? {} : { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
      ]),
    ),
    $ref: '#/$defs/d0',
  }
  test.each<[string, JsonObject]>([
    ['a type that is none', object({ a: { type: 'text' } })],
    ['a keyword of the wrong type', { required: 'a' }],
    ['a remote reference', object({ a: { $ref: 'https://example.com/schema.json' } })],
    ['a file', object({ a: { $ref: 'file:///etc/passwd' } })],
    ['a reference to nothing', object({ a: { $ref: '#/$defs/none' } })],
    ['a reference to itself', object({ a: { $ref: '#' } })],
    ['a circle', { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }],
    ['an unused circle', { $defs: { a: { not: { $ref: '#/$defs/a' } } } }],
    ['a name', { $id: 'https://json-schema.org/draft/2020-12/schema' }],
    ['dynamic references', { $dynamicRef: '#x' }],
    ['a billion references', bomb],
    ['look-ahead', object({ a: { pattern: '^(?=a)' } })],
    ['a back-reference', object({ a: { pattern: '(a)\\1' } })],
    ['a pattern that is none', { patternProperties: { '(': {} } }],
    ['a pattern under a property named like a keyword', object({ default: { pattern: '(?!x)' } })],
    [
      'a pattern where a reference leads',
      { 'x-hidden': { pattern: '(?!x)' }, ...object({ a: { $ref: '#/x-hidden' } }) },
    ],
    ['too much', object({ a: { description: 'x'.repeat(70_000) } })],
  ])('rejected: %s', (_, schema) => {
    const found = problems(schema)
    expect(found).not.toEqual([])
    for (const { path } of found) expect(path).toMatch(/^inputSchema/)
  })
})

describe('matching', () => {
  const check = (schema: JsonObject, value: JsonValue) => mismatches(schema, value, 'args')

  test('a valid value has no errors, an invalid one has an error for every place', () => {
    const schema = object(
      { a: { type: 'integer', minimum: 1 }, list: { type: 'array', items: object({ b: { enum: ['x'] } }) } },
      { required: ['a', 'c'], additionalProperties: false },
    )
    expect(check({ ...schema, required: ['a'] }, { a: 1, list: [{ b: 'x' }] })).toEqual([])
    expect(check(schema, { a: 0, list: [{ b: 'x' }, { b: 'secret value' }], 'd.e': 1 })).toEqual(
      expect.arrayContaining([
        { path: 'args.c', message: 'is required' },
        { path: 'args.a', message: 'must be >= 1' },
        { path: 'args.list[1].b', message: 'must be equal to one of the allowed values' },
        { path: 'args.d.e', message: 'is not expected' },
      ]),
    )
    expect(JSON.stringify(check(schema, { a: 0, list: [{ b: 'secret value' }] }))).not.toContain('secret value')
  })

  test('two patterns are compiled separately', () => {
    const schema = object({ a: { pattern: '^a$' }, b: { pattern: '^b$' } })
    expect(check(schema, { a: 'a', b: 'b' })).toEqual([])
    expect(check(schema, { a: 'b', b: 'a' })).toHaveLength(2)
  })

  test('inherited properties do not count', () => {
    expect(check({ type: 'object', required: ['constructor'] }, {})).toHaveLength(1)
    expect(check(object({ toString: { type: 'string' } }), {})).toEqual([])
  })

  test('equal items are found whatever the order of their keys', () => {
    expect(
      check({ uniqueItems: true }, [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ]),
    ).toHaveLength(1)
    expect(check({ uniqueItems: true }, [1, '1', [1], { a: 1 }, null])).toEqual([])
  })

  test.each<[string, JsonObject, JsonValue]>([
    ['(a+)+$', { pattern: '^(a+)+$' }, `${'a'.repeat(100_000)}!`],
    ['(a|a)*$', { pattern: '^(a|a)*$' }, `${'a'.repeat(100_000)}!`],
    ['\\d+\\d+\\d+$', { pattern: '^\\d+\\d+\\d+\\d+x$' }, '1'.repeat(100_000)],
    ['a large pattern on a large text', { pattern: '^(.*a.{0,30}b){10}$' }, 'ab'.repeat(150_000)],
    ['many patterns', { items: { pattern: '^(.*a.{0,30}b){10}$' } }, Array(3_000).fill('ab'.repeat(150))],
    ['many different items', { uniqueItems: true }, Array.from({ length: 100_000 }, (_, i) => ({ i }))],
    ['many mistakes', { items: { type: 'string' } }, Array.from({ length: 200_000 }, () => 1)],
  ])('takes negligible time: %s', async (_, schema, value) => {
    expect(await quickest(1_500, () => check(schema, value))).toBeLessThan(1_500)
  })

  test('a value that would block the host is rejected, not accepted unchecked', () => {
    const found = check({ pattern: '^(.*a.{0,30}b){10}$' }, 'ab'.repeat(150_000))
    expect(found).toEqual([{ path: 'args', message: 'is too large for the patterns of its schema' }])
    // The next check has the full time again.
    expect(check({ pattern: '^(.*a.{0,30}b){10}$' }, 'ab'.repeat(20))).toEqual([])
  })

  test('reports at most twenty errors', () => {
    expect(
      check(
        { items: { type: 'string' } },
        Array.from({ length: 50 }, () => 1),
      ),
    ).toHaveLength(20)
  })
})
