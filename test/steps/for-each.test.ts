import { describe, expect, test } from 'vitest'
import type { Joined } from '@/server/steps/define-step'
import { forEach } from '@/server/steps/for-each'

if (forEach.mode !== 'fork') throw new Error('for-each must fork')
const { config, fork, join } = forEach

describe('for-each', () => {
  test('gives each turn its item and its number', () => {
    expect(fork({ config: config.parse({ items: ['a', 'b'] }) }).branches).toEqual([
      { key: '0', exit: 'each', data: { item: 'a', index: 0 } },
      { key: '1', exit: 'each', data: { item: 'b', index: 1 } },
    ])
    const batched = fork({ config: config.parse({ items: [1, 2, 3], batch: 2 }) })
    expect(batched.branches.map(({ data }) => data.item)).toEqual([[1, 2], [3]])
  })

  test('fails with a list of something else, or a list that is too long', () => {
    expect(() => fork({ config: { items: 'text' } })).toThrow('items must be a list')
    expect(() => fork({ config: { items: Array.from({ length: 100_001 }, () => 0) } })).toThrow('more than 100000')
  })

  test('runs one item after the other and stops at the first failure, unless it says otherwise', () => {
    const items = [1, 2]
    expect(fork({ config: { items } })).toMatchObject({ concurrency: 1, need: 2, stopOnError: true })
    expect(fork({ config: { items, concurrency: 9, onItemError: 'continue' } })).toMatchObject({
      concurrency: 9,
      need: null,
      stopOnError: false,
    })
  })

  test('collects results in the order of the items, with null where one failed', () => {
    const branches: Joined[] = [
      { key: '0', state: 'done', result: 'x', error: null, data: {} },
      { key: '1', state: 'failed', result: null, error: { code: 'NO', message: 'no', stepId: null }, data: {} },
    ]
    const output = { results: ['x', null], errors: [{ index: 1, code: 'NO', message: 'no' }], count: 2 }
    expect(join({ config: { items: [], result: '${a}' }, stepId: 'each', branches })).toEqual({
      output,
      delta: { each: output },
    })
    const { results: _results, ...rest } = output
    expect(join({ config: { items: [], saveAs: 'all' }, stepId: 'each', branches }).delta).toEqual({ all: rest })
  })
})
