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

  test('equal items are found in any order of their keys', () => {
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

  test.each(['0.01', '0.05', '0.1', '0.001', '5', '0.25', '1e-7'])('every multiple of %s is one', (text) => {
    const unit = Number(text)
    const decimals = text.includes('e') ? 7 : (text.split('.')[1]?.length ?? 0)
    for (let count = -300; count <= 3_000; count++) {
      const value = Number(`${count * Number(text.replace('.', '').replace('1e-7', '1'))}e-${decimals}`)
      expect(check({ type: 'number', multipleOf: unit }, value), String(value)).toEqual([])
    }
    const wrong = [{ path: 'args', message: `must be multiple of ${unit}` }]
    for (const value of [unit / 3, unit * 1.5, 19.99 + unit / 10, 1_234_567_890.12 + unit / 4])
      if (!Number.isInteger(value / unit)) expect(check({ type: 'number', multipleOf: unit }, value)).toEqual(wrong)
  })

  test('a number is a multiple however large or small it is', () => {
    const cents = { type: 'number', multipleOf: 0.01 }
    for (const value of [0, -19.99, 1_234_567_890.12, 90_071_992_547_409.91, 1e300, 5e-324 * 0]) {
      expect(check(cents, value), String(value)).toEqual([])
    }
    for (const value of [19.999, 1e-300, 0.005]) expect(check(cents, value), String(value)).toHaveLength(1)
  })

  test.each<[string, string[], string[]]>([
    [
      'date',
      ['2027-02-28', '2024-02-29', '2000-02-29'],
      ['2027-19-39', '2027-02-30', '2027-00-00', '2100-02-29', '30.02.2027'],
    ],
    ['time', ['09:00:00Z', '23:59:59+02:00'], ['29:00:00Z', '24:00:00Z', '09:00:00+99:00']],
    [
      'date-time',
      ['2027-02-28T09:00:00Z', '2027-02-28T09:00:00.123+02:00'],
      ['2027-19-39T29:59:59Z', '2027-02-30T09:00:00Z', '2027-02-28 09:00:00Z', '2027-02-28T24:00:00Z'],
    ],
    ['url', ['https://example.com/a'], ['nowhere', `http://${':'.repeat(100_000)}`]],
  ])('a %s is one that exists', async (format, good, bad) => {
    for (const text of good) expect(check({ type: 'string', format }, text), text).toEqual([])
    for (const text of bad) expect(check({ type: 'string', format }, text), text.slice(0, 50)).toHaveLength(1)
  })

  test('a schema of 2,000 subschemas is compiled and used in little time, however it is made', () => {
    const many = (count: number, one: (nth: number) => JsonValue) =>
      Object.fromEntries(Array.from({ length: count }, (_, nth) => [`p${nth}`, one(nth)]))
    const part = object(many(40, () => ({ type: 'integer', minimum: 1 })))
    const schemas = [
      object(many(1_990, () => ({ type: 'string' }))),
      { allOf: Array.from({ length: 900 }, (_, nth) => object({ [`p${nth}`]: { type: 'string' } })) },
      { $defs: { part }, ...object(many(45, () => ({ $ref: '#/$defs/part' }))) },
    ]
    for (const schema of schemas) {
      const before = process.cpuUsage()
      expect(problems(schema)).toEqual([])
      expect(check(schema, {})).toEqual([])
      expect(check(schema, { p0: 1, p1: 'x' }).length).toBeGreaterThan(0)
      const { user, system } = process.cpuUsage(before)
      // Ajv's own settings took more than ten times as long, and could not read the widest at all.
      expect((user + system) / 1_000).toBeLessThan(1_000)
    }
    const tracking = { ...object(many(400, () => ({ type: 'string' }))), unevaluatedProperties: false }
    expect(problems(tracking)).toMatchObject([{ message: expect.stringContaining('too many for unevaluated') }])
    const few = { allOf: [object({ a: {} })], unevaluatedProperties: false }
    expect([problems(few), check(few, { a: 1 }), check(few, { b: 1 })]).toMatchObject([[], [], [{ path: 'args.b' }]])
  })

  test('a value that may meet too many alternatives is refused, and takes little time', () => {
    const inner = { oneOf: Array.from({ length: 15 }, (_, nth) => ({ const: `x${nth}` })) }
    const one = { oneOf: Array.from({ length: 100 }, () => ({ $ref: '#/$defs/inner' })) }
    const schema: JsonObject = { $defs: { inner, one }, type: 'array', items: { $ref: '#/$defs/one' } }
    const before = process.cpuUsage()
    expect(check(schema, Array(100_000).fill('x1'))).toEqual([
      { path: 'args', message: 'has too many values for so large a schema' },
    ])
    const { user, system } = process.cpuUsage(before)
    expect((user + system) / 1_000).toBeLessThan(250)
    const cases = { type: 'array', items: { oneOf: Array.from({ length: 10 }, (_, nth) => ({ const: `x${nth}` })) } }
    expect(check(cases, Array(100_000).fill('x1'))).toEqual([])
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
