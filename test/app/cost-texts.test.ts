import { expect, test } from 'vitest'
import { costTexts, tokensText } from '@/app/(dashboard)/[tenant]/_insights/cost'

test('a total and its parts have the same digits after the point, so that they add up', () => {
  const text = costTexts(0.4227)
  expect([0.4227, 0.3157, 0.107, 0.0002].map(text)).toEqual(['0.423', '0.316', '0.107', '<0.001'])
  expect([12.5, 12, 0.5, 0].map(costTexts(12.5))).toEqual(['12.50', '12.00', '0.50', '0'])
})

test('however small a total is, it has three digits', () => {
  expect(costTexts(0.0000423)(0.0000423)).toBe('0.0000423')
  expect(costTexts(0)(0)).toBe('0')
})

test('shortened counts of tokens have the same digits', () => {
  expect([9_999, 24_000, 69_800, 1_234_567].map(tokensText)).toEqual(['9,999', '24.0K', '69.8K', '1.2M'])
})
