import { describe, expect, test } from 'vitest'
import { exitsOf } from '@/server/definition/exits'
import { lookupIn } from '@/server/definition/template'
import { switchStep } from '@/server/steps/switch'
import { evaluateText } from '@/server/tools/expression'

if (switchStep.mode !== 'pure') throw new Error('switch must be pure')
const { compute, check, exits } = switchStep
const cases = [
  { id: 'eu', label: 'Europe', when: '${country} in ["DE", "FR"]' },
  { id: 'short', when: 'size(${country}) == 2' },
]
const on = (country: string, of = cases) =>
  compute({ config: { cases: of }, data: {}, evaluate: (text) => evaluateText(text, lookupIn({ country })) }).exit

describe('switch', () => {
  test('takes the first case that is true, and default if none is', () => {
    expect(on('DE')).toBe('eu')
    expect(on('US')).toBe('short')
    expect(on('Utopia')).toBe('default')
    expect(() => on('DE', [{ id: 'n', when: '1' }])).toThrow('The case n must give true or false')
  })

  test('each case is an exit with its label', () => {
    const step = { id: 's', type: 'switch', cases }
    expect(exitsOf(exits, step)).toEqual([
      { id: 'eu', label: 'Europe' },
      { id: 'short', label: 'short' },
      { id: 'default', label: 'Otherwise' },
      { id: 'error', label: 'On error' },
    ])
  })

  test('two cases cannot share an id, and none can be called like another exit', () => {
    const named = (...ids: string[]) => check?.({ cases: ids.map((id) => ({ id, when: 'true' })) })
    expect(named('a', 'b')).toEqual([])
    expect(named('a', 'a')).toHaveLength(1)
    expect(named('default')).toHaveLength(1)
  })
})
