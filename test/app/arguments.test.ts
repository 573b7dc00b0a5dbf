import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { byFit, sharedNames } from '@/app/(dashboard)/[tenant]/_arguments/matches'
import { shapeOf } from '@/app/(dashboard)/[tenant]/_arguments/shape'
import {
  emptyValue,
  isGap,
  modeOf,
  numberOrText,
  numberText,
  numberValue,
  unknownNames,
  valueProblem,
  withValue,
} from '@/app/(dashboard)/[tenant]/_arguments/values'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import { BUILTIN_TOOLS } from '@/server/tools/builtin'
import { mismatches } from '@/server/tools/json-schema'

const object = (properties: JsonObject, more: JsonObject = {}) => shapeOf({ type: 'object', properties, ...more })
const kindOf = (schema: JsonValue) => {
  const { kind, words } = shapeOf(schema)
  return [kind, words]
}
const offer = (name: string, type: 'string' | 'number' | 'integer' | 'object' | 'any', maybe = false) => ({
  name,
  type,
  maybe,
})

describe('the shape of a schema', () => {
  test('is read from every form a schema has for one type', () => {
    expect(kindOf({ type: ['string', 'null'] })).toEqual(['string', 'text'])
    expect(kindOf({ anyOf: [{ type: 'integer' }, { type: 'null' }] })).toEqual(['integer', 'whole number'])
    expect(kindOf({ anyOf: [{ const: 'a' }, { const: 'b' }] })).toEqual(['choice', 'one of 2'])
    expect(kindOf({ anyOf: [{ type: 'string' }, { type: 'number' }] })).toEqual(['any', 'text or number'])
    expect(kindOf({ type: 'array', items: { type: 'string' } })).toEqual(['list', 'list of text'])
    expect(kindOf({ properties: { a: {} } })).toEqual(['object', 'object'])
    expect(kindOf({ type: 'array', items: { type: 'object' } })).toEqual(['list', 'list of objects'])
    expect(kindOf({ type: ['boolean', 'integer'] })).toEqual(['any', 'yes or no or whole number'])
    expect(kindOf(true)).toEqual(['any', 'anything'])
  })

  test('follows references inside the schema, also to itself', () => {
    const node = { type: 'object', properties: { name: { type: 'string' }, next: { $ref: '#/$defs/node' } } }
    const schema = { type: 'object', properties: { first: { $ref: '#/$defs/node' } }, $defs: { node } }
    const [first] = shapeOf(schema).fields
    expect(first?.shape.fields.map(({ name }) => name)).toEqual(['name', 'next'])
    expect(first?.shape.fields[1]?.shape.fields.map(({ name }) => name)).toEqual(['name', 'next'])
  })

  test('has a row for each argument of every built-in tool', () => {
    for (const { id, inputSchema } of Object.values(BUILTIN_TOOLS)) {
      const names = Object.keys((inputSchema.properties ?? {}) as JsonObject)
      expect(new Set(shapeOf(inputSchema).fields.map(({ name }) => name)), id).toEqual(new Set(names))
    }
  })
})

describe('rows of values', () => {
  const any = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>
  const schema = fc.oneof(
    ...['string', 'number', 'integer', 'boolean', 'object', 'array'].map((type) => fc.constant<JsonValue>({ type })),
    fc.constant<JsonValue>({ enum: ['a', 1] }),
    fc.constant<JsonValue>({ type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }),
    fc.constant<JsonValue>({ type: 'array', items: { type: 'number' } }),
    fc.constant<JsonValue>({}),
  )

  test('show every value with a control that can edit it', () => {
    fc.assert(
      fc.property(schema, any, (from, value) => {
        const shape = shapeOf(from)
        const mode = modeOf(shape, value)
        // A field of text shows only text, rows only objects and lists, a select only its options.
        if (mode === 'expression') expect(typeof value).toBe('string')
        if (mode !== 'own') return
        const holds = {
          string: typeof value === 'string',
          number: typeof value === 'number' || typeof value === 'string',
          integer: typeof value === 'number' || typeof value === 'string',
          boolean: typeof value === 'boolean',
          choice: value === 'a' || value === 1,
          object: typeof value === 'object' && value !== null && !Array.isArray(value),
          list: Array.isArray(value),
          any: typeof value === 'string',
        }
        expect(holds[shape.kind]).toBe(true)
      }),
    )
  })

  test('keep every other name, in its place, when one is set or removed', () => {
    const args = { b: 1, odd: { x: [1] }, a: '${a}' }
    expect(JSON.stringify(withValue(args, 'odd', 2))).toBe('{"b":1,"odd":2,"a":"${a}"}')
    expect(JSON.stringify(withValue(args, 'c', 3))).toBe('{"b":1,"odd":{"x":[1]},"a":"${a}","c":3}')
    expect(JSON.stringify(withValue(args, 'b', undefined))).toBe('{"odd":{"x":[1]},"a":"${a}"}')
    expect(unknownNames(object({ a: {}, b: {} }), args)).toEqual(['odd'])
  })

  test('leave an emptied element of a list without a value, which the schema reports', () => {
    for (const items of [{ type: 'number' }, { type: 'integer' }, { type: 'boolean' }, { enum: ['a', 1] }]) {
      const item = shapeOf(items)
      const left = emptyValue(item)
      expect(isGap(item, left)).toBe(true)
      expect(mismatches({ type: 'array', items }, [left], 'lines')).toMatchObject([{ path: 'lines[0]' }])
      for (const value of [5, 0, false, 'a', '${n}']) expect(isGap(item, value)).toBe(false)
    }
    // Empty text, an empty object and an empty list are values.
    for (const items of [{ type: 'string' }, { type: 'object' }, { type: 'array' }, { enum: ['', 'a'] }]) {
      expect(isGap(shapeOf(items), emptyValue(shapeOf(items)))).toBe(false)
      expect(mismatches({ type: 'array', items }, [emptyValue(shapeOf(items))], 'lines')).toEqual([])
    }
  })

  test('take a number, an expression, and any unfinished text', () => {
    expect(['5', ' -1.5 ', '1e3', '${n}', '5 ${n}', '', '-', '0x10', 'Infinity'].map(numberOrText)).toEqual([
      5,
      -1.5,
      1000,
      '${n}',
      '5 ${n}',
      '',
      '-',
      '0x10',
      'Infinity',
    ])
    const number = shapeOf({ type: 'integer' })
    expect([5, '${n}', undefined].map((value) => valueProblem(number, value))).toEqual([null, null, null])
    for (const value of ['5', '-', 1.5, null]) expect(valueProblem(number, value)).not.toBeNull()
  })

  test('never change the digits of a number', () => {
    for (const text of ['12345678901234567890', '9007199254740993', '0.1000000000000000055', '1e400', '1e-400'])
      expect(numberOrText(text)).toBe(text)
    expect(['1.50', '007', '-0.0', '1e23', '12E-1', '.5', '100000'].map(numberOrText)).toEqual([
      1.5, 7, -0, 1e23, 1.2, 0.5, 100_000,
    ])
    expect(valueProblem(shapeOf({ type: 'number' }), '9007199254740993')).toBe(
      'This number has too many digits to be stored exactly.',
    )
  })

  test('show a number as it is typed, one character after another', () => {
    const decimal = fc.stringMatching(/^-?\d{1,4}(\.\d{1,5})?(e-?\d)?$/)
    fc.assert(
      fc.property(fc.oneof(decimal, fc.constantFrom('1.50', '0.05', '12345678901234567890', '${n}')), (text) => {
        let value: JsonValue | undefined
        let shown = ''
        for (const character of text) {
          const typed = shown + character
          value = numberValue(typed)
          shown = numberText(value, typed)
        }
        expect(shown).toBe(text)
        expect(value).toBe(numberOrText(text))
      }),
    )
  })

  test('show the value of a number when it is no longer the typed one', () => {
    expect(numberText(2, '1.')).toBe('2')
    expect(numberText('${n}', '1.')).toBe('${n}')
    expect(numberText(undefined, '1.')).toBe('')
  })
})

describe('the offered values', () => {
  test('fits the type first, and certain values come before values that may be missing', () => {
    const offers = [
      offer('_', 'object'),
      offer('text', 'string'),
      offer('late', 'number', true),
      offer('some', 'any'),
      offer('count', 'integer'),
      offer('price', 'number'),
    ]
    expect(byFit(offers, 'number').map(({ name }) => name)).toEqual(['count', 'price', 'late', 'some', 'text', '_'])
  })

  test('maps fields that share a name and fit, in any spelling, and never those that have a value', () => {
    const shape = object({
      customerId: { type: 'string' },
      amount: { type: 'number' },
      note: { type: 'string' },
      city: { type: 'string' },
      street: { type: 'string' },
    })
    const offers = [
      offer('customer_id', 'string'),
      offer('amount', 'string'),
      offer('note', 'string'),
      offer('order', 'object'),
      offer('order.city', 'string'),
      offer('home.street', 'string'),
      offer('work.street', 'string'),
    ]
    expect(sharedNames(shape, { note: 'mine' }, offers)).toEqual({
      customerId: '${customer_id}',
      city: '${order.city}',
    })
  })
})
