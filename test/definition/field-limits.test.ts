import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatOf, limitProblem } from '@/server/definition/field-limits'
import { checkFields } from '@/server/definition/fields'
import { schemaOfFields } from '@/server/definition/fields-schema'
import type { Field, Fields } from '@/server/definition/schema'
import { mismatches } from '@/server/tools/json-schema'
import { schemaOfFields as typedSchema } from '@/server/typed-api/fields'
import { rounds } from '../support/rounds'

const problem = (field: Field, value: string | number) => checkFields({ it: field }, { it: value }).details[0]?.message

describe('the limits of a field', () => {
  test('are checked wherever values of declared fields are', () => {
    const due: Field = { type: 'string', format: 'date' }
    expect(problem(due, '2028-02-29')).toBeUndefined()
    expect(problem(due, '2026-02-29')).toBe('it must be a date, such as 2026-07-01')
    expect(problem(due, '31.1.2026')).toBe('it must be a date, such as 2026-07-01')
    const mail: Field = { type: 'string', format: 'email' }
    expect(problem(mail, 'ada@example.com')).toBeUndefined()
    expect(problem(mail, 'ada')).toBe('it must be an email address')
    const amount: Field = { type: 'integer', minimum: 1, maximum: 10 }
    expect([1, 10].map((value) => problem(amount, value))).toEqual([undefined, undefined])
    expect(problem(amount, 0)).toBe('it must be at least 1')
    expect(problem(amount, 11)).toBe('it must be at most 10')
  })

  test('are ignored where they mean nothing, because workflows may store anything there', () => {
    expect(problem({ type: 'string', format: 'phone' }, 'x')).toBeUndefined()
    expect(problem({ type: 'string', format: { of: 'mine' }, minimum: 5 }, 'x')).toBeUndefined()
    expect(problem({ type: 'number', format: 'date', minimum: '5' }, 1)).toBeUndefined()
    expect(formatOf({ type: 'any', format: 'date' })).toBeNull()
    expect(schemaOfFields({ it: { type: 'string', format: 'long-text' } }).properties).toEqual({
      it: { type: 'string' },
    })
  })

  test('mean the same as the JSON Schemas that callers read', () => {
    const field = fc.oneof(
      fc.record({ type: fc.constantFrom('number', 'integer'), minimum: fc.integer(), maximum: fc.integer() }),
      fc.record({ type: fc.constant('string'), format: fc.constantFrom('date', 'email', 'long-text') }),
    )
    const value = fc.oneof(
      fc.integer(),
      fc
        .date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-01-01') })
        .map((at) => at.toISOString().slice(0, 10)),
      fc.constantFrom('2026-02-30', '2026-2-1', 'ada@example.com', 'ada@', '@example.com', 'x'),
    )
    fc.assert(
      fc.property(field, value, (raw, given) => {
        const one = raw as Field
        if (typeof given !== (one.type === 'string' ? 'string' : 'number')) return
        const fields: Fields = { it: one }
        const refused = limitProblem(one, given) !== null
        expect(mismatches(schemaOfFields(fields), { it: given }, '').length > 0).toBe(refused)
        expect(mismatches(typedSchema(fields) as never, { it: given }, '').length > 0).toBe(refused)
      }),
      { numRuns: rounds(200, 5000) },
    )
  })
})
