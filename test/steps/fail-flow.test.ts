import { describe, expect, test } from 'vitest'
import { failFlow } from '@/server/steps/fail-flow'

if (failFlow.mode !== 'fail') throw new Error('fail-flow must fail')
const { failure } = failFlow

describe('fail-flow', () => {
  test('fails with the author’s code and message', () => {
    expect(failure({ config: { code: 'OUT_OF_STOCK', message: 'No chairs' } })).toEqual({
      code: 'OUT_OF_STOCK',
      message: 'No chairs',
    })
    expect(failure({ config: { code: 'A', message: '' } }).message).not.toBe('')
  })

  test('accepts only codes that programs can compare', () => {
    for (const code of ['', 'a', 'OUT OF STOCK', '1A']) expect(failFlow.config.safeParse({ code }).success).toBe(false)
  })
})
