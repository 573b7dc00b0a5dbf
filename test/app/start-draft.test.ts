import { describe, expect, test } from 'vitest'
import { entriesOfAny, entriesOfLast } from '@/app/(dashboard)/[tenant]/inbound-webhooks/sent-entries'
import { hiddenFields, hiddenParts } from '@/app/(dashboard)/[tenant]/runs/[runId]/again-values'
import { firstDraft, inFields, inJson, readDraft } from '@/app/(dashboard)/[tenant]/workflows/start-draft'
import type { JsonObject } from '@/server/definition/json'
import type { Fields } from '@/server/definition/schema'

const FIELDS: Fields = {
  name: { type: 'string' },
  count: { type: 'integer', default: 3 },
  urgent: { type: 'boolean', required: false },
  order: { type: 'object', required: false },
  account: { type: 'integer', sensitive: true },
  paper: { type: 'file', required: false },
}

describe('a form that begins with values', () => {
  const before: JsonObject = { name: '', order: { a: [1] }, account: '***', paper: 'some-id' }
  const first = firstDraft(FIELDS, before)
  const typing = (typed: Record<string, string | boolean | File>) => ({ ...first, typed: { ...first.typed, ...typed } })

  test('sends unchanged fields as they were, and leaves out absent ones', () => {
    expect(first.typed).toMatchObject({ count: '3', urgent: false, account: '***' })
    expect(readDraft(FIELDS, first, before)).toEqual({ data: before, errors: {}, files: [], problem: null })
    expect(readDraft(FIELDS, typing({ name: 'Ada', urgent: true, count: '4' }), before).data).toEqual({
      ...before,
      ...{ name: 'Ada', urgent: true, count: 4 },
    })
    expect(readDraft(FIELDS, typing({ order: '', paper: '' }), before).data).toEqual({ name: '', account: '***' })
  })

  test('leaves a file that was chosen to the call that sends it, and keeps the one before in JSON', () => {
    const paper = new File(['x'], 'paper.txt')
    const { data, files } = readDraft(FIELDS, typing({ paper }), before)
    expect(files).toEqual([{ name: 'paper', file: paper }])
    expect(data).toEqual({ name: '', order: { a: [1] }, account: '***' })
    expect(JSON.parse(inJson(FIELDS, typing({ paper }), before).json ?? '')).toEqual(before)
  })

  test('asks for fields that were absent but are required now, and checks the changed ones', () => {
    expect(readDraft(FIELDS, firstDraft(FIELDS, {}), {}).errors).toEqual({ name: 'Required', account: 'Required' })
    expect(readDraft(FIELDS, typing({ account: 'x' }), before).errors).toEqual({
      account: 'This must be a whole number',
    })
  })

  test('without values begins with the defaults, and sends these', () => {
    const draft = firstDraft(FIELDS, null)
    expect(readDraft(FIELDS, { ...draft, typed: { ...draft.typed, name: 'Ada', account: '1' } }, null).data).toEqual({
      ...{ name: 'Ada', count: 3, urgent: false, account: 1 },
    })
  })

  test('becomes JSON and fields again, and loses nothing', () => {
    const json = inJson(FIELDS, typing({ count: 'many' }), before)
    expect(JSON.parse(json.json ?? '')).toEqual({ ...before, count: 'many' })
    expect(readDraft(FIELDS, json, before).data).toMatchObject({ count: 'many' })
    const fields = inFields(FIELDS, inJson(FIELDS, first, before))
    expect(fields).toEqual(first)
    for (const text of ['{', '[]', '{"gone": 1}']) expect(inFields(FIELDS, { ...first, json: text })).toBeNull()
    expect(readDraft(FIELDS, { ...first, json: '[]' }, before).problem).toBe('This must be a JSON object')
  })

  test('is JSON where a field of its values is no longer in START', () => {
    expect(firstDraft(FIELDS, { gone: 1 }).json).toBe('{\n  "gone": 1\n}')
  })
})

test('hidden values stay, and a value with a hidden part is not sent', () => {
  const before = { account: '***', name: 'Bearer ***', order: { pin: '***' } }
  expect([...hiddenFields(FIELDS, before)]).toEqual(['account'])
  expect(Object.keys(hiddenParts(FIELDS, before, before))).toEqual(['name', 'order'])
  expect(hiddenParts(FIELDS, { account: '***', name: 'Bearer x', order: {} }, before)).toEqual({})
  // A typed text may say so.
  expect(hiddenParts(FIELDS, { name: '***' }, { name: 'Ada' })).toEqual({})
})

describe('the names that an inbound webhook’s expressions can use', () => {
  test('are those of the last delivery, with its values', () => {
    const entries = entriesOfLast({
      body: { issue: { title: 'It drips', 'a b': 1, labels: ['x'] } },
      headers: { 'x-event': 'issues' },
      query: {},
    })
    expect(entries.map(({ name, type }) => [name, type])).toEqual([
      ['body', 'object'],
      ['body.issue', 'object'],
      ['body.issue.title', 'string'],
      ['body.issue["a b"]', 'integer'],
      ['body.issue.labels', 'array'],
      ['headers', 'object'],
      ['headers.x-event', 'string'],
      ['query', 'object'],
    ])
    expect(entries[2]?.last).toBe('"It drips"')
    expect(entriesOfLast({ body: undefined, headers: {}, query: {} })[0]).toMatchObject({ name: 'body', type: 'any' })
  })

  test('has the names of the START fields before there was a delivery', () => {
    expect(entriesOfAny([['title', 'string']]).map(({ name }) => name)).toEqual([
      'body',
      'body.title',
      'headers',
      'query',
    ])
  })
})
