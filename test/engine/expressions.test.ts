import { describe, expect, test } from 'vitest'
import { bind, indexed, matches, parseExpression, parseKey, read, tokensOf } from '@/inngest/engine/match'

const holds = (source: string, scope: Record<string, unknown>) =>
  matches(parseExpression(source, ['event', 'async']), scope)

describe('expressions', () => {
  const event = { name: 'a/b', data: { id: 'x', n: 1, yes: true, none: null, deep: { 'a-b': ['p', 'q'] } } }

  test.each([
    ["event.data.id == 'x'", true],
    ['event.data.id == "y"', false],
    ['event.data.id != "y"', true],
    ['event.data.n == 1 && event.data.yes', true],
    ['event.data.n == 1 && event.data.yes == false', false],
    ['event.data.none == null', true],
    ['event.data.n == 1.0', true],
    ["event.data.n == '1'", false],
    ["event.data.deep['a-b'][1] == 'q'", true],
    ["event.name == 'a/b'", true],
    ["'x' == event.data.id", true],
    ["event.data.id == 'it\\'s'", false],
  ])('%s', (source, expected) => {
    expect(holds(source, { event })).toBe(expected)
  })

  test('a missing key matches nothing, neither with == nor with !=', () => {
    expect(holds('event.data.gone == null', { event })).toBe(false)
    expect(holds("event.data.gone != 'x'", { event })).toBe(false)
    expect(holds('event.data.id == async.data.id', { event })).toBe(false)
  })

  test('only own properties are read', () => {
    for (const path of ['constructor', '__proto__', 'toString', 'deep.constructor.name']) {
      expect(read(parseKey(`event.data.${path}`), { event })).toBeUndefined()
    }
  })

  test.each([
    'event.data.a || event.data.b',
    'event.data.a > 1',
    'event.data.a in [1, 2]',
    '!event.data.a',
    'event.data.a.startsWith("x")',
    'size(event.data.a) == 1',
    'event.data.a == 1 ? true : false',
    'event.data.a + "-" + event.data.b',
    '(event.data.a == 1)',
    'data.a == 1',
    'event.data.',
    'event.data[',
    "event.data.a == 'open",
    'event.data.a ==',
    '',
    'event.data.a == 1 && ',
    'event.data.my-key == 1',
  ])('rejects what it does not understand: %s', (source) => {
    expect(() => parseExpression(source, ['event'])).toThrow()
  })

  test('a wait is looked up by its equality with a value, and the rest is compared', () => {
    const source = "event.data.id == async.data.id && async.data.kind != 'no'"
    const { token, rest } = indexed(bind(parseExpression(source, ['event', 'async']), event))
    expect(tokensOf({ id: 'x', other: 1 })).toContain(token)
    expect(tokensOf({ id: 'y' })).not.toContain(token)
    expect(matches(rest, { async: { data: { kind: 'yes' } } })).toBe(true)
    expect(matches(rest, { async: { data: { kind: 'no' } } })).toBe(false)
  })

  test('a condition on a key that the run does not have never matches', () => {
    const bound = bind(parseExpression('event.data.gone == async.data.gone', ['event', 'async']), event)
    expect(indexed(bound).token).toBe('')
    expect(matches(bound, { async: { data: { gone: 'x' } } })).toBe(false)
  })

  test('tokens distinguish text from numbers and one path from another', () => {
    const tokenOf = (source: string) => indexed(parseExpression(source, ['async'])).token
    const tokens = tokensOf({ a: 1, b: { c: '1' } })
    expect(tokens).toContain(tokenOf('async.data.a == 1'))
    expect(tokens).toContain(tokenOf("async.data.b.c == '1'"))
    expect(tokens).not.toContain(tokenOf("async.data.a == '1'"))
    expect(tokens).not.toContain(tokenOf("async.data['b.c'] == '1'"))
    expect(tokenOf('async.data.a == null')).toBe('')
    expect(tokenOf(`async.data.a == '${'x'.repeat(300)}'`)).toBe('')
  })
})
