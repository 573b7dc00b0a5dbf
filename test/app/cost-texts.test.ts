import { expect, test } from 'vitest'
import { costTexts, shownTotal, tokensText } from '@/app/(dashboard)/[tenant]/_insights/cost'

test('a total and its parts have the same digits after the point', () => {
  const text = costTexts(0.4227)
  expect([0.4227, 0.3157, 0.107, 0.0002].map(text)).toEqual(['0.423', '0.316', '0.107', '<0.001'])
  expect([12.5, 12, 0.5, 0].map(costTexts(12.5))).toEqual(['12.50', '12.00', '0.50', '0'])
})

test('a total is the sum of its parts as they are shown, if they are all of it', () => {
  const shown = (total: number, ...parts: number[]) => [shownTotal(total, parts), ...parts].map(costTexts(total))
  expect(shown(0.4216, 0.3154, 0.1062)).toEqual(['0.421', '0.315', '0.106'])
  expect(shown(12.349, 6.1745, 6.1745)).toEqual(['12.34', '6.17', '6.17'])
  // Excludes some agents.
  expect(shown(0.4216, 0.3154)).toEqual(['0.422', '0.315'])
})

test('however small a total is, it has three digits', () => {
  expect(costTexts(0.0000423)(0.0000423)).toBe('0.0000423')
  expect(costTexts(0)(0)).toBe('0')
})

test('shortened counts of tokens have the same digits', () => {
  expect([9_999, 24_000, 69_800, 1_234_567].map(tokensText)).toEqual(['9,999', '24.0K', '69.8K', '1.2M'])
})
