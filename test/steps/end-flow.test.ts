import { describe, expect, test } from 'vitest'
import { endFlow } from '@/server/steps/end-flow'

if (endFlow.mode !== 'end') throw new Error('end-flow must end')
const { result } = endFlow

describe('end-flow', () => {
  test('its output is the result; without one, the result is all run data', () => {
    expect(result({ config: { output: { a: 1 } }, data: { a: 0, b: 2 } })).toEqual({ a: 1 })
    expect(result({ config: {}, data: { a: 0, b: 2 } })).toEqual({ a: 0, b: 2 })
    expect(result({ config: { output: {} }, data: { a: 0 } })).toEqual({})
  })
})
