import { describe, expect, it } from 'vitest'
import {
  errorsByField,
  type Fields,
  initialDraft,
  openTexts,
  readDraft,
  widgetOf,
} from '@/app/(dashboard)/[tenant]/inbox/answer/answer-values'

const fields: Fields = {
  note: { type: 'string', required: false },
  amount: { type: 'number' },
  count: { type: 'integer', default: 3 },
  urgent: { type: 'boolean' },
  size: { type: 'string', options: ['S', 'M'] },
  tags: { type: 'array', required: false },
  extra: { type: 'object', required: false },
  anything: { type: 'any', required: false },
  password: { type: 'string', secret: true, required: false },
}

describe('a typed form', () => {
  it('has the right widget for each type', () => {
    expect(Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, widgetOf(field)]))).toEqual({
      note: 'text',
      amount: 'number',
      count: 'number',
      urgent: 'yes-no',
      size: 'choice',
      tags: 'json',
      extra: 'json',
      anything: 'text',
      password: 'secret',
    })
  })

  it('leaves nothing of secret and sensitive fields in the browser', () => {
    const asked: Fields = {
      note: { type: 'string' },
      pin: { type: 'string', secret: true },
      kind: { type: 'string', options: ['a'], secret: true },
      account: { type: 'string', sensitive: true },
      person: { type: 'object', sensitive: true },
    }
    const draft = { note: 'n', pin: '1', kind: '"a"', account: 'DE1', person: '{}', gone: 'x' }
    expect(openTexts(asked, draft)).toEqual({ note: 'n' })
  })

  it('sends values of the declared types, and nothing for empty fields', () => {
    const typed = { amount: '1.5', urgent: 'false', size: '"M"', tags: '[1]', extra: '{"a":1}', anything: 'plain' }
    expect(readDraft(fields, { ...initialDraft(fields), ...typed })).toEqual({
      data: { amount: 1.5, count: 3, urgent: false, size: 'M', tags: [1], extra: { a: 1 }, anything: 'plain' },
      errors: {},
    })
  })

  it('sends an emptied text, so that its default does not come back', () => {
    const asked: Fields = {
      note: { type: 'string', required: false, default: 'standard text' },
      count: { type: 'integer', default: 3 },
    }
    expect(readDraft(asked, { ...initialDraft(asked), note: '' })).toEqual({ data: { note: '', count: 3 }, errors: {} })
    expect(readDraft(asked, { ...initialDraft(asked), count: '' }).errors).toEqual({ count: 'Required' })
    expect(readDraft(asked, {})).toEqual({ data: {}, errors: {} })
  })

  it('reports missing values and values of the wrong type', () => {
    const typed = { amount: 'much', count: '1.5', tags: '{}', extra: '[', anything: '{"a":1}' }
    const { data, errors } = readDraft(fields, typed)
    expect(data).toEqual({ anything: { a: 1 } })
    expect(Object.keys(errors).sort()).toEqual(['amount', 'count', 'extra', 'size', 'tags', 'urgent'])
  })

  it('is not confused by names that every object has', () => {
    const text = { type: 'string' } as const
    const odd: Fields = { constructor: text, toString: { ...text, required: false } }
    expect(readDraft(odd, {})).toEqual({ data: {}, errors: { constructor: 'Required' } })
  })

  it('shows the server’s message at its field', () => {
    const details = [
      { path: 'data.amount', message: 'amount must be a number' },
      { path: 'type', message: 'is wrong' },
    ]
    expect(errorsByField(details, fields)).toEqual({
      byField: { amount: 'Must be a number' },
      rest: ['type is wrong'],
    })
  })
})

describe('a number beyond 2^53', () => {
  const typed = { amount: '90071992547409931', urgent: 'true', size: '"S"' }
  const reason = 'This is too large to be kept exactly as a number; an id needs a field of type string'
  it('is refused with that reason, alone and in JSON', () => {
    expect(readDraft(fields, typed).errors).toMatchObject({ amount: reason })
    expect(readDraft(fields, { ...typed, amount: '1', count: '90071992547409931' }).errors).toMatchObject({
      count: reason,
    })
    const inJson = { ...typed, amount: '1', extra: '{"id":90071992547409931}', anything: '[90071992547409931]' }
    expect(readDraft(fields, inJson).errors).toEqual({
      extra: expect.stringMatching(/^id: 90071992547409931 is too large/),
      anything: expect.stringMatching(/^\[0\]: 90071992547409931 is too large/),
    })
  })
  it('stays text where any value may be', () => {
    const { data, errors } = readDraft(fields, { ...typed, amount: '1', anything: '90071992547409931' })
    expect([data.anything, errors]).toEqual(['90071992547409931', {}])
  })
})
