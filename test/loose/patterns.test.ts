import { RE2JS } from 're2js'
import { describe, expect, test } from 'vitest'
import { Effort } from '@/server/definition/effort'
import { ExpressionFailure } from '@/server/definition/expression/evaluate'
import { lookupIn } from '@/server/definition/template'
import { evaluateText, expressionEffort } from '@/server/tools/expression'
import { mismatches, schemaProblems } from '@/server/tools/json-schema'
import { costOfPattern, MAX_FOR_PATTERN, PatternTooCostly, patternOf } from '@/server/tools/patterns'

const cpuMs = (work: () => unknown) => {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
/** Differs from the others, so that none is cached already. */
const wide = (nth: number) => `(?i)${`[${String.fromCodePoint(0x62 + nth)}-\u{1E900}]`.repeat(150)}`

const HOSTILE = [
  ['many wide ranges', wide(0)],
  ['one class of wide ranges', `(?i)[${'b-\u{1E900}'.repeat(200)}]`],
  ['ranges by number', `(?i)[${'\\x{100}-\\x{1E900}'.repeat(50)}]`],
  ['ranges in a group that ignores case', `(?s-m)x(?mi:[${'b-\u{1E900}'.repeat(200)}])`],
  ['classes of Unicode', `[${'\\p{L}\\P{L}'.repeat(90)}]`],
  ['short classes of Unicode', `[^${'\\pL\\PL'.repeat(160)}]`],
  ['repetitions', 'a{1000}'.repeat(140)],
  ['repetitions in repetitions', '((a?){30}b){30}'.repeat(60)],
  ['repeated alternatives', '(abcdefghij|klmnopqrst){400}'.repeat(30)],
] as const

describe('compiling a pattern', () => {
  test.each(HOSTILE)('%s: is refused by its text, before it costs anything', (_name, text) => {
    let refused: unknown
    const ms = cpuMs(() => {
      try {
        patternOf(text)
      } catch (err) {
        refused = err
      }
    })
    expect(refused).toBeInstanceOf(PatternTooCostly)
    expect(ms).toBeLessThan(50)
  })

  test.each([
    String.raw`(?i)^[a-z0-9.!#$%&'*+/=?^_{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$`,
    `^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`,
    String.raw`^[\p{L}\p{M}' .-]{1,200}$`,
    String.raw`(?i)[\x{4e00}-\x{9fff}\x{3040}-\x{30ff}]+`,
    String.raw`(?i)\b(?:invoice|rechnung|facture|fattura|factura)[ #:]*([A-Z0-9-]{4,30})\b`,
    `^[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?$`,
    String.raw`^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.|$)){4}`,
    '^.{0,1000}$',
  ])('%s works', (text) => {
    expect(costOfPattern(text)).toBeLessThan(MAX_FOR_PATTERN / 2)
    patternOf(text).find('some text')
  })

  test('is never cheaper than its text says', () => {
    const parts = [
      'a',
      '.',
      '\\p{L}',
      '[^\\P{Lu}x]',
      '(?i)',
      '[b-\u{1E900}]',
      '[\\x41-\\x{ffff}]',
      '{50}',
      '(',
      ')',
      '|',
      '*',
      '[[:alpha:]a-z]',
    ]
    let x = 1
    const next = () => {
      x = (x * 48_271) % 2_147_483_647
      return x
    }
    for (let round = 0; round < 400; round++) {
      const text = Array.from({ length: 1 + (next() % 40) }, () => parts[next() % parts.length]).join('')
      const cost = costOfPattern(text)
      if (cost > MAX_FOR_PATTERN) continue
      const ms = cpuMs(() => {
        try {
          RE2JS.compile(text)
        } catch {
          // Not a pattern.
        }
      })
      expect(ms, text).toBeLessThan(100)
    }
  })
})

test('the patterns of a schema are refused when together they take too long, and cost little until then', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 60 }, (_, nth) => [
      `p${nth}`,
      { type: 'string', pattern: `(?i:${'[b-\u{1E900}]'.repeat(3)})${nth}` },
    ]),
  )
  let problems: ReturnType<typeof schemaProblems> = []
  const ms = cpuMs(() => {
    problems = schemaProblems({ type: 'object', properties }, 'inputSchema')
  })
  expect(problems[0]?.message).toBe(
    'takes too long to compile, with the other patterns of the schema; use fewer, or simpler ones',
  )
  expect(ms).toBeLessThan(250)
})

test('a schema that was saved before such limits checks nothing, and says so', () => {
  const schema = { type: 'object', properties: { a: { type: 'string', pattern: wide(1) } } }
  expect(mismatches(schema, { a: 'x' }, 'args')).toEqual([
    { path: 'args', message: 'cannot be checked: the patterns of its schema take too long to compile' },
  ])
})

test('a schema of 200 ordinary patterns is compiled', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 200 }, (_, nth) => [`p${nth}`, { type: 'string', pattern: `^[A-Z]{2}-[0-9]{1,${nth + 1}}$` }]),
  )
  expect(schemaProblems({ type: 'object', properties }, 'inputSchema')).toEqual([])
})

test('expressions that are evaluated together stop compiling once it is too much', () => {
  const patterns = Array.from({ length: 100 }, (_, nth) => `(?i)[${String.fromCodePoint(0x62 + nth)}-\u{1E900}]`)
  const lookup = lookupIn({ patterns, text: 'x' })
  const effort = expressionEffort()
  const ms = cpuMs(() => {
    expect(() => {
      for (const nth of patterns.keys()) evaluateText(`matches(\${text}, \${patterns[${nth}]})`, lookup, effort)
    }).toThrow(ExpressionFailure)
  })
  expect(ms).toBeLessThan(500)
  expect(effort.allows(1)).toBe(false)
})

test('the limit of a pattern does not depend on earlier compilations', () => {
  const [cost, text] = [costOfPattern('[a-z]+x'), '[a-z]+x']
  for (const _ of [1, 2]) {
    expect(() => patternOf(text, new Effort(cost))).toThrow(PatternTooCostly)
    expect(patternOf(text, new Effort(cost + 1)).find('abcx')).toBe(true)
  }
})
