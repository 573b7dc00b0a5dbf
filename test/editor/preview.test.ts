import { describe, expect, test } from 'vitest'
import { previewOf } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/preview'
import {
  lastOf,
  repeated,
  rootsOfEntries,
  sampleValues,
} from '@/app/(dashboard)/[tenant]/workflows/[id]/model/shown-values'
import type { ScopeEntry } from '@/server/workflows/check/scope'

const VALUES = { amount: 120, name: 'Ada', order: { lines: [{ sku: 'a' }], note: null }, __proto__x: 1 }
const NAMES = new Set([...Object.keys(VALUES), 'none', 'missing', 'big', 'text'])
const of = (text: string, code = false, leftOut: string[] = []) =>
  previewOf(text, code, { values: VALUES, names: NAMES, leftOut })

describe('what a text gives with the shown values', () => {
  test.each([
    ['${amount}', { gives: '120' }],
    ['Dear ${name}, you owe ${amount}', { gives: 'Dear Ada, you owe 120' }],
    ['${order.lines}', { gives: '[{"sku":"a"}]' }],
    ['${order.lines[0].sku}', { gives: 'a' }],
    ['${none ?? "nothing"}', { gives: 'nothing' }],
    ['${order.note}', { gives: 'null' }],
    ['${none.deep}', { missing: 'none.deep' }],
    ['${unasked}', null],
    ['no reference', null],
    ['costs $${amount}', null],
    ['${amount', null],
  ])('template %s', (text, expected) => expect(of(text)).toEqual(expected))

  test.each([
    ['${amount} > 100', { gives: 'true' }],
    ['${amount} > 100 && ${name} == "Bob"', { gives: 'false' }],
    ['size(${order.lines}) * 2', { gives: '2' }],
    ['${missing} > 1', { missing: 'missing' }],
    ['${name} > 1', null],
    ['${amount} >', null],
    ['matches(${name}, "(a+)+$")', null],
  ])('condition %s', (text, expected) => expect(of(text, true)).toEqual(expected))

  test('says nothing about values that are too large to be here, and cuts long ones', () => {
    expect(of('${amount} and ${big}', false, ['big'])).toBeNull()
    const long = previewOf('${text}', false, { values: { text: 'x '.repeat(500) }, names: NAMES, leftOut: [] })
    expect(long && 'gives' in long && long.gives.length).toBeLessThanOrEqual(161)
    expect(previewOf('${text}', false, { values: { text: ' ' }, names: NAMES, leftOut: [] })).toEqual({
      gives: 'an empty text',
    })
  })
})

const entry = (name: string, stepId: string | null, type: ScopeEntry['type'] = 'any'): ScopeEntry => {
  return { name, type, description: null, from: stepId === null ? 'start' : 'step', stepId, maybe: false }
}

describe('the entries of a list', () => {
  const entries = [
    entry('amount', null, 'number'),
    entry('lookup', 'lookup', 'object'),
    entry('lookup.city', 'lookup', 'string'),
    entry('customer', 'lookup', 'object'),
    entry('customer.city', 'lookup', 'string'),
    entry('other', 'other', 'object'),
    entry('["7-days"]', 'week', 'array'),
  ]

  test('have each value once, under the name that people gave it', () => {
    const repeats = repeated(entries)
    expect(entries.filter((one) => !repeats.has(one)).map(({ name }) => name)).toEqual([
      'amount',
      'customer',
      'customer.city',
      'other',
      '["7-days"]',
    ])
  })

  test('have values by type where no run has any', () => {
    const values = sampleValues(entries)
    expect(values).toMatchObject({ amount: 1, customer: { city: 'text' }, '7-days': [] })
    expect(lastOf('customer.city', values)).toBe('"text"')
    expect(lastOf('customer.none', values)).toBeNull()
    expect(rootsOfEntries(entries)).toEqual(['7-days', 'amount', 'customer', 'lookup', 'other'])
  })

  test('never change an object’s prototype', () => {
    const values = sampleValues([entry('a', null, 'object'), entry('a["x"]', null, 'string')])
    expect(Object.getPrototypeOf(values.a)).toBe(Object.prototype)
    expect(values).toEqual({ a: { x: 'text' } })
  })
})
