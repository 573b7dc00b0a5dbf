import { describe, expect, test } from 'vitest'
import { lookupIn } from '@/server/definition/template'
import { condition } from '@/server/steps/condition'
import { evaluateText } from '@/server/tools/expression'

if (condition.mode !== 'pure') throw new Error('condition must be pure')
const { compute } = condition
const on = (when: string, data = {}) =>
  compute({ config: { when }, data, evaluate: (text) => evaluateText(text, lookupIn(data)) })

describe('condition', () => {
  test('takes the exit of its expression’s value, and adds nothing to run data', () => {
    expect(on('${n} > 1', { n: 2 })).toEqual({ output: { value: true }, delta: {}, exit: 'true' })
    expect(on('${n} > 1', { n: 1 })).toEqual({ output: { value: false }, delta: {}, exit: 'false' })
  })

  test('fails for any value but true or false', () => {
    expect(() => on('1')).toThrow('must give true or false')
    expect(() => on('${n} > 1')).toThrow('has no value')
  })

  test('refuses a text that is not an expression before it runs', () => {
    expect(condition.config.safeParse({ when: '${n} >' }).success).toBe(false)
    expect(condition.config.safeParse({ when: '${n} > 1' }).success).toBe(true)
  })
})
