import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { locateJson, spanOf } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/json-positions'
import { rounds } from '../support/rounds'

describe('locateJson', () => {
  test('reads JSON as JSON.parse does, and finds each value at its position', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        const located = locateJson(text)
        if ('problem' in located) throw new Error(located.problem)
        expect(located.value).toEqual(JSON.parse(text))
        for (const [path, { from, to }] of located.at)
          if (path === '') expect(JSON.parse(text.slice(from, to))).toEqual(JSON.parse(text))
          else expect(() => JSON.parse(text.slice(from, to))).not.toThrow()
      }),
      { numRuns: rounds(75, 1200) },
    )
  })

  test('refuses the same texts as JSON.parse, with a position inside the text', () => {
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.nat(),
        fc.constantFrom('', ',', '{', '"', 'x', '\\', '\n', '\u0001'),
        (value, n, slip) => {
          const whole = JSON.stringify(value, null, 1)
          const at = n % (whole.length + 1)
          const text = whole.slice(0, at) + slip + whole.slice(at + (slip === '' ? 1 : 0))
          const located = locateJson(text)
          let parsed = true
          try {
            JSON.parse(text)
          } catch {
            parsed = false
          }
          // Otherwise only duplicate names are refused.
          if ('problem' in located && located.problem.startsWith('Duplicate name')) return
          expect('value' in located).toBe(parsed)
          if ('problem' in located) {
            expect(located.span.from).toBeLessThanOrEqual(text.length)
            expect(located.problem).toMatch(/\.$/)
          }
        },
      ),
      { numRuns: rounds(250, 4000) },
    )
  })

  test('explains errors in words, with their position', () => {
    const problem = (text: string) => {
      const located = locateJson(text)
      return 'problem' in located ? `${located.span.from} ${located.problem}` : null
    }
    expect(problem('{"a": 1 "b": 2}')).toBe('8 Expected a comma or }.')
    expect(problem('{"a": }')).toBe('6 Expected a value.')
    expect(problem('{"a": tru}')).toBe('6 tru is not a JSON value.')
    expect(problem('{"a": 1, "a": 2}')).toBe('9 Duplicate name: a')
    expect(problem('{} x')).toBe('3 Unexpected text after the value.')
    expect(problem('')).toBe('0 Expected a value.')
    expect(problem('['.repeat(500))).toBe('201 Nested too deeply.')
  })
})

test('spanOf finds a path, or its nearest parent', () => {
  const text = '{"steps": [{"id": "a", "args": {"to": "x"}}]}'
  const located = locateJson(text)
  if (!('value' in located)) throw new Error('not read')
  const at = (path: string) => {
    const { from, to } = spanOf(located.at, path)
    return text.slice(from, to)
  }
  expect(at('steps[0].args.to')).toBe('"x"')
  expect(at('steps[0].args.cc.name')).toBe('{"to": "x"}')
  expect(at('steps[3].id')).toBe('[{"id": "a", "args": {"to": "x"}}]')
  expect(at('edges[0].to')).toBe('{')
})
