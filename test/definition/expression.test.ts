import { describe, expect, test } from 'vitest'
import { parseExpression } from '@/server/definition/expression/parse'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import { lookupIn } from '@/server/definition/template'
import { evaluateText } from '@/server/tools/expression'
import { quickest } from '../support/patience'

const data: JsonObject = {
  total: 120,
  price: 2.5,
  qty: 4,
  name: 'Ada',
  none: null,
  tags: ['a', 'b'],
  customer: { vat: 'DE1', address: { country: 'DE' } },
  '__proto__ ': 1,
}
const value = (text: string, of: JsonObject = data): JsonValue => evaluateText(text, lookupIn(of))

describe('an expression', () => {
  test.each<[string, JsonValue]>([
    ['${total} > 100 && has(${customer.vat})', true],
    ['${customer.address.country} in ["DE", "FR"]', true],
    ['"vat" in ${customer}', true],
    ['${price} * ${qty} + 1', 11],
    ['1 + 2 * 3 - 4 / 2 % 3', 5],
    ['-(2 - 5)', 3],
    ['!(${total} == 120) || ${name} != "Ada"', false],
    ['${total} >= 120 ? "big" : ${missing}', 'big'],
    ['"a" + \'b\\\'"\' + "\\n"', 'ab\'"\n'],
    ['${tags} + ["c"]', ['a', 'b', 'c']],
    ['[1, [2, null]] == [1, [2, null]]', true],
    ['${customer} == {"vat": 1}', 'refused'],
    ['size("añ👍") + size(${tags}) + size(${customer})', 7],
    ['upper(${name}) + lower(${name})', 'ADAada'],
    ['contains(${name}, "da") && startsWith(${name}, "A") && endsWith(${name}, "a")', true],
    ['matches(${name}, "^[A-Z][a-z]+$")', true],
    ['has(${none}) || has(${nothing.at.all})', false],
    ['${nothing ?? 3} + 1', 4],
    ['${none} == null', true],
    ['"${name}"', '${name}'],
    ['1 == "1"', false],
    ['"b" > "a" && "10" < "9"', true],
    ['true ? false ? 1 : 2 : 3', 2],
  ])('%s', (text, expected) => {
    if (expected === 'refused') expect(() => value(text)).toThrow('not allowed here')
    else expect(value(text)).toEqual(expected)
  })

  test('a path is only evaluated where its value counts', () => {
    expect(value('false && ${missing}')).toBe(false)
    expect(value('true || ${missing}')).toBe(true)
    expect(() => value('true && ${missing}')).toThrow('${missing} has no value')
  })

  test.each([
    ['1 + "a"', '"+" takes two numbers, two strings or two lists, not number and string'],
    ['1 < "a"', 'takes two numbers or two strings'],
    ['1 / 0', 'divides by zero'],
    ['1 % 0', 'divides by zero'],
    ['1e308 * 10', 'too large'],
    ['!1', 'takes true or false, not number'],
    ['"a" && true', 'takes true or false, not string'],
    ['1 in 2', 'takes a value and a list'],
    ['upper(1)', 'upper takes strings, not number'],
    ['matches("a", "(")', 'cannot use this pattern'],
  ])('%s fails at run time', (text, message) => {
    expect(() => value(text)).toThrow(message)
  })

  test.each([
    ['', 'is empty'],
    ['${total} = 1', 'write == to compare'],
    ['total > 1', 'Write ${total} for a field'],
    ['now()', 'There is no function now'],
    ['size()', 'takes one argument, not 0'],
    ['has(1)', 'takes a path'],
    ['(1', 'Expected ")" at the end'],
    ['1 +', 'ends too early'],
    ['"open', 'never closed'],
    ['1 2', '"2" is not allowed here'],
    ['${__proto__.x}', 'reserved name'],
    ['1 ? 2', 'Expected ":" at the end'],
    ['a.b', '"." is not allowed here'],
    ['01', '"0" is not allowed here'],
    [`${'('.repeat(40)}1${')'.repeat(40)}`, 'nested more than 32 deep'],
    [Array(400).fill('1').join('+'), 'more than 300 parts'],
    ['1'.repeat(4_001), 'longer than 4000 characters'],
  ])('%s is not valid', (text, message) => {
    expect(() => parseExpression(text)).toThrow(message)
  })

  test('no pattern and no large value takes long', async () => {
    const text = 'a'.repeat(200_000)
    const took = await quickest(10_000, () => {
      expect(value('matches(${t}, "(a+)+$")', { t: text })).toBe(true)
      const searched = { t: 'a'.repeat(400_000), p: `${'a'.repeat(100_000)}b${'a'.repeat(100_000)}` }
      expect(() => value('contains(${t}, ${p})', searched)).toThrow('too much work')
      const pattern = (p: string) => () => value('matches(${t}, ${p})', { t: text, p })
      expect(pattern('(a|aa)+$'.repeat(1_000))).toThrow('so long')
      expect(pattern('.{0,1000}.{0,1000}.{0,1000}[xy]')).toThrow('repeats so much')
      expect(pattern('(((a{10}){10}){10}){10}')).toThrow('repeats so much')
      expect(pattern('[a-z]{1,20}@[a-z]{1,20}')()).toBe(false)
      const iban = 'matches(${t}, "^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$")'
      expect(value(iban, { t: 'DE89370400440532013000' })).toBe(true)
      expect(value('matches("2026-11-22", "^[0-9]{4}-[0-9]{2}-[0-9]{2}$")')).toBe(true)
      const list = Array.from({ length: 20_000 }, (_, i) => i)
      expect(() => value('-1 in ${l}', { l: list })).toThrow('too much work')
      expect(() => value(Array(40).fill('${l} + ${l}').join(' + '), { l: list })).toThrow('too much work')
    })
    expect(took).toBeLessThan(10_000)
  })
})
