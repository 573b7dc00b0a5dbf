import { expect, test } from 'vitest'
import { draftOf, readExpected } from '@/app/(dashboard)/[tenant]/_test-cases/expected-draft'
import type { Expected } from '@/server/definition/test-case'

const FIELDS: Expected = {
  kind: 'fields',
  fields: [
    { path: ['city'], value: 'Bern' },
    { path: ['left'], value: 12 },
    { path: ['sold'], value: true },
  ],
}

test('text that a field expects is typed without quotes, and all that nobody changes stays as it was', () => {
  const draft = draftOf(FIELDS)
  expect(draft.fields.map(({ text }) => text)).toEqual(['Bern', '12', 'true'])
  expect(readExpected(draft)).toEqual({ expected: FIELDS })
})

test('a number says so when it is none, and can become text in quotes', () => {
  const typed = (text: string) => {
    const draft = draftOf({ kind: 'fields', fields: [{ path: ['left'], value: 12 }] })
    return readExpected({ ...draft, fields: draft.fields.map((field) => ({ ...field, text })) })
  }
  expect(typed('a lot')).toEqual({ problem: { at: 'left', text: 'This must be a number, or text in quotes' } })
  expect(typed('"a lot"')).toEqual({ expected: { kind: 'fields', fields: [{ path: ['left'], value: 'a lot' }] } })
})
