import { expect, test } from 'vitest'
import { expectedText } from '@/app/(dashboard)/[tenant]/_test-cases/expected-text'
import type { Expected } from '@/server/definition/test-case'

test.each<[Expected, string]>([
  [{ kind: 'succeeds' }, 'Expects: succeeds'],
  [{ kind: 'fails', code: 'TIMEOUT' }, 'Expects: fails with TIMEOUT'],
  [{ kind: 'equals', value: { n: 4 } }, 'Expects: result is {"n":4}'],
  [{ kind: 'fields', fields: [{ path: ['left'], value: 12 }] }, 'Expects: left is 12'],
  [{ kind: 'contains', text: 'today' }, 'Expects: answer contains “today”'],
])('what a test case expects does not read as its result: %j', (expected, text) => {
  expect(expectedText(expected)).toBe(text)
})

test('a test case’s expectation stays one line', () => {
  expect(expectedText({ kind: 'equals', value: 'x'.repeat(1_000) })).toMatch(/^Expects: result is "x+…$/)
})
