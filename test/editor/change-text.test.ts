import { expect, test } from 'vitest'
import { changeText } from '@/app/(dashboard)/[tenant]/workflows/[id]/parts/change-text'

test('the text of a change has no quotes, unless only they distinguish it from another type', () => {
  expect(changeText('Approve', 'Accept')).toEqual({ before: 'Approve', after: 'Accept', long: false })
  expect(changeText(undefined, '')).toMatchObject({ before: 'nothing', after: 'nothing' })
  expect(changeText('5', 5)).toMatchObject({ before: '"5"', after: '5' })
  expect(changeText(undefined, ['a'])).toMatchObject({ before: 'nothing', after: '["a"]' })
})

test('long values belong above each other, and end somewhere', () => {
  expect(changeText('Collects what is ordered', 'Collects what is ordered, and by whom')).toMatchObject({ long: true })
  expect(changeText('', 'x'.repeat(500)).after).toHaveLength(121)
})
