import { expect, test } from 'vitest'
import {
  changesInFields,
  changesInJson,
  editable,
  readChanges,
} from '@/app/(dashboard)/[tenant]/runs/[runId]/again-changes'
import { firstDraft } from '@/app/(dashboard)/[tenant]/workflows/start-draft'

const before = { customer: 'Okafor', amount: 4, urgent: false, pin: '***', stock: { left: 7, at: 'Bern' } }
const fields = editable(
  {
    customer: { type: 'string', default: 'nobody' },
    note: { type: 'string', default: 'none' },
    amount: { type: 'number' },
    urgent: { type: 'boolean' },
    pin: { type: 'string', sensitive: true },
    stock: { type: 'object' },
  },
  before,
)
const first = firstDraft(fields, before)
const typed = (entries: Record<string, string | boolean>) => ({ ...first, typed: { ...first.typed, ...entries } })

test('only changed fields are sent', () => {
  expect(readChanges(fields, first, before)).toMatchObject({ changes: {}, errors: {}, problem: null })
  expect(readChanges(fields, typed({ amount: '20', urgent: true }), before).changes).toEqual({
    amount: 20,
    urgent: true,
  })
  // The same value in another text.
  expect(readChanges(fields, typed({ amount: '4.0', stock: '{"at":"Bern","left":7}' }), before).changes).toEqual({})
})

test('a field cannot be emptied, because its value would stay', () => {
  expect(readChanges(fields, typed({ customer: '', amount: 'four' }), before).errors).toEqual({
    customer: 'Required',
    amount: 'This must be a number',
  })
})

test('as JSON the changes stand alone, and come back as rows', () => {
  const json = changesInJson(fields, typed({ note: 'now', amount: 'four' }), before)
  expect(JSON.parse(json.json ?? '')).toEqual({ note: 'now', amount: 'four' })
  expect(readChanges(fields, json, before).changes).toEqual({ note: 'now', amount: 'four' })
  const rows = changesInFields(fields, { ...first, json: '{"amount": 20}' }, before)
  expect(rows?.typed).toMatchObject({ customer: 'Okafor', amount: '20', pin: '***' })
  expect(readChanges(fields, rows ?? first, before).changes).toEqual({ amount: 20 })
  expect(changesInFields(fields, { ...first, json: '{"other": 1}' }, before)).toBeNull()
  expect(readChanges(fields, { ...first, json: '[]' }, before).problem).toBe('This must be a JSON object')
})
