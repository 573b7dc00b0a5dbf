import { describe, expect, test } from 'vitest'
import { collectInputs } from '@/server/steps/collect-inputs'
import { parseConfig } from '@/server/steps/config'
import type { AnyStep } from '@/server/steps/define-step'

if (collectInputs.mode !== 'pause') throw new Error('collect-inputs must pause')
const { ask, answer } = collectInputs
const config = (raw: object) => parseConfig(collectInputs as unknown as AnyStep, raw as never) as never

describe('collect-inputs', () => {
  const output = { email: { type: 'string' }, age: { type: 'integer', required: false, description: 'In years' } }

  test('pauses with the documented descriptor', () => {
    expect(ask({ stepId: 'form', config: config({ output, title: 'You' }), data: {}, now: new Date(0) })).toEqual({
      signal: { type: 'collect_inputs', stepId: 'form', fields: output, title: 'You' },
    })
  })

  test('also asks for fields that run data already has, unless set to skip them', () => {
    const data = { email: 'a@b.c', age: 3 }
    expect(ask({ stepId: 'form', config: config({ output }), data, now: new Date(0) })).toHaveProperty('signal')
    expect(ask({ stepId: 'form', config: config({ output, skipWhenPresent: true }), data, now: new Date(0) })).toEqual({
      output: data,
    })
    expect(
      ask({
        stepId: 'form',
        config: config({ output, skipWhenPresent: true }),
        data: { email: 'x' },
        now: new Date(0),
      }),
    ).toHaveProperty('signal')
  })

  test('merges an answer by field name, or keeps it under saveAs', () => {
    const given = { data: { email: 'a@b.c' } }
    expect(answer({ stepId: 'form', config: config({ output }), answer: given })).toEqual({
      output: given.data,
      delta: given.data,
    })
    expect(answer({ stepId: 'form', config: config({ output, saveAs: 'person' }), answer: given })).toEqual({
      output: given.data,
      delta: { person: given.data },
    })
  })

  test.each([
    ['a field type nobody knows', { output: { a: { type: 'colour' } } }],
    ['a reserved field name', { output: { constructor: { type: 'string' } } }],
    ['a field name that no path could reach', { output: { 'a b': { type: 'string' } } }],
  ])('rejects %s', (_what, raw) => {
    expect(() => config(raw)).toThrow()
  })
})
