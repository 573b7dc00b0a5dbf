import { describe, expect, test } from 'vitest'
import { exitsOf } from '@/server/definition/exits'
import type { Joined } from '@/server/steps/define-step'
import { parallel } from '@/server/steps/parallel'

if (parallel.mode !== 'fork') throw new Error('parallel must fork')
const { config, check, fork, join, exits } = parallel
const branches = [{ id: 'credit', label: 'Credit' }, { id: 'fraud' }]

describe('parallel', () => {
  test('each branch is an exit, in addition to done and error', () => {
    expect(exitsOf(exits, { id: 'p', type: 'parallel', branches })).toEqual([
      { id: 'credit', label: 'Credit' },
      { id: 'fraud', label: 'fraud' },
      { id: 'done', label: 'Done' },
      { id: 'error', label: 'On error' },
    ])
  })

  test('waits for all branches, one, or a number of them, also when the number is text', () => {
    const needs = (wait?: unknown) => fork({ config: config.parse({ branches, wait }) }).need
    expect([needs(), needs('all'), needs('any'), needs(2), needs('2')]).toEqual([2, 2, 1, 2, 2])
    expect(() => needs('most')).toThrow()
  })

  test('refuses two branches with one id, the id of another exit, and more to wait for than there are', () => {
    const problems = (more: object) => check?.(config.parse({ branches, ...more })).map(({ field }) => field)
    expect(problems({})).toEqual([])
    expect(problems({ branches: [{ id: 'a' }, { id: 'a' }] })).toEqual(['branches[1].id'])
    expect(problems({ branches: [{ id: 'done' }] })).toEqual(['branches[0].id'])
    expect(problems({ wait: 3 })).toEqual(['wait'])
  })

  test('merges what its branches wrote, in their order, and reports how each of them ended', () => {
    const branch = (key: string, state: Joined['state'], data: Joined['data']): Joined => ({
      key,
      state,
      result: null,
      error: state === 'failed' ? { code: 'NO', message: 'no', stepId: 's' } : null,
      data,
    })
    const of = [branch('a', 'done', { x: 1, y: 1 }), branch('b', 'failed', { z: 1 }), branch('c', 'done', { y: 2 })]
    const joined = join({ config: { ...config.parse({ branches }), saveAs: 'checks' }, stepId: 'p', branches: of })
    const output = { completed: ['a', 'c'], failed: [{ branch: 'b', code: 'NO', message: 'no' }], stopped: [] }
    expect(joined).toEqual({ output, delta: { x: 1, y: 2, checks: output } })
  })
})
