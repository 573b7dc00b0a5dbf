import { describe, expect, test } from 'vitest'
import { AppError } from '@/server/errors'
import { parseJson } from '@/server/http/parse-json'

const MAX = 50_000

function refusal(text: string) {
  try {
    parseJson(text, 'The body')
  } catch (err) {
    if (err instanceof AppError) return err.details[0]
    throw err
  }
  return null
}

describe('JSON from outside', () => {
  test.each([
    ['empty lists', `[${'[],'.repeat(349_000)}[]]`],
    ['lists in lists', `[${`${'['.repeat(60)}${']'.repeat(60)},`.repeat(8_000)}[]]`],
    ['empty objects', `[${'{},'.repeat(MAX)}{}]`],
    ['numbers', `[${'1,'.repeat(MAX)}1]`],
    ['texts', `[${'"",'.repeat(MAX)}""]`],
    ['lists with spaces in them', `[ ${'[ ] ,\n'.repeat(MAX)} [ 1 ] ]`],
  ])('has at most 50,000 values: %s beyond that are rejected before they are parsed', (_, text) => {
    expect(refusal(text)).toEqual({ message: 'The body has more than 50000 values.' })
  })

  test.each([
    ['numbers', `[${'1,'.repeat(MAX - 2)}1]`],
    ['empty lists with spaces in them', `[${'[ ],'.repeat(MAX - 2)}[]]`],
    ['a text full of commas and brackets', JSON.stringify([',[{'.repeat(MAX)])],
  ])('accepts 50,000 values: %s', (_, text) => {
    expect(parseJson(text, 'The body')).toEqual(JSON.parse(text))
  })

  test('loses the name __proto__ at any depth, however it is written', () => {
    const value = parseJson('{"a":[{"__proto__":{"x":1},"b":2}],"\\u005f_proto__":3,"c":{"__proto__":[]}}', 'The body')
    expect(JSON.stringify(value)).toBe('{"a":[{"b":2}],"c":{}}')
  })

  test.each([
    ['{"a":[0,{"b c":"\\u0000"}]}', 'a[1].b c', 'contains a NUL character'],
    ['{"a":{"b":["x","\\ud800"]}}', 'a.b[1]', 'contains a lone surrogate'],
    ['[[1e999]]', '[0][0]', 'is not a finite number'],
    ['{"a":{"\\udc00":1}}', 'a.\udc00', 'contains a lone surrogate'],
    ['"\\u0000"', '', 'contains a NUL character'],
  ])('%s is rejected with the position of what cannot be stored', (text, path, message) => {
    expect(refusal(text)).toEqual({ path, message })
  })
})
