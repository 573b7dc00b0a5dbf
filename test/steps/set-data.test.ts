import { describe, expect, test } from 'vitest'
import { lookupIn } from '@/server/definition/template'
import { setData } from '@/server/steps/set-data'
import { evaluateText } from '@/server/tools/expression'

if (setData.mode !== 'pure') throw new Error('set-data must be pure')
const { compute, check, defines } = setData
const data = { price: 2, qty: 3 }

describe('set-data', () => {
  test('gives its values, and the results of its expressions on the data before it', () => {
    const config = { values: { price: 9, to: 'x' }, compute: { sum: '${price} * ${qty}' } }
    expect(compute({ config, data, evaluate: (text) => evaluateText(text, lookupIn(data)) })).toEqual({
      output: { price: 9, to: 'x', sum: 6 },
    })
  })

  test('must set something, and each field once', () => {
    expect(check?.({ values: {}, compute: {} })).toHaveLength(1)
    expect(check?.({ values: { a: 1 }, compute: { a: '1' } })).toHaveLength(1)
    expect(check?.({ values: { a: 1 }, compute: { b: '1' } })).toEqual([])
  })

  test('defines its fields, or the one it is saved as', () => {
    const config = { values: { a: 1, b: '${x}', c: 'y' }, compute: { d: '1' } }
    expect(defines?.(config, 's').fields).toMatchObject({
      a: { type: 'number' },
      b: { type: 'any' },
      c: { type: 'string' },
      d: { type: 'any' },
    })
    expect(Object.keys(defines?.({ ...config, saveAs: 'all' }, 's').fields ?? {})).toEqual(['all'])
  })
})
