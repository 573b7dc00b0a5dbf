import { describe, expect, test } from 'vitest'
import { matching } from '@/app/(dashboard)/[tenant]/palette-match'
import { readListQuery } from '@/app/(dashboard)/[tenant]/workflows/list-query'
import { readImport } from '@/app/(dashboard)/[tenant]/workflows/read-import'
import { startCurl } from '@/app/(dashboard)/[tenant]/workflows/start-curl'
import { firstTyped, readTyped, typedFor } from '@/app/(dashboard)/[tenant]/workflows/start-values'
import type { Fields } from '@/server/definition/schema'

const FIELDS: Fields = {
  name: { type: 'string' },
  count: { type: 'integer', required: false },
  price: { type: 'number', default: 9.5 },
  urgent: { type: 'boolean' },
  order: { type: 'object', required: false },
  size: { type: 'string', options: ['S', 'M'] },
  note: { type: 'any', required: false },
}

describe('the form of a start', () => {
  test('starts with the defaults and returns values of the right types', () => {
    const first = firstTyped(FIELDS)
    expect(first).toEqual({ name: '', count: '', price: '9.5', urgent: false, order: '', size: '', note: '' })
    const typed = { ...first, name: '42', count: ' 7 ', order: '{"id": 1}', size: '"M"', note: 'free text' }
    expect(readTyped(FIELDS, typed)).toEqual({
      data: { name: '42', count: 7, price: 9.5, urgent: false, order: { id: 1 }, size: 'M', note: 'free text' },
      errors: {},
      files: [],
    })
  })

  test('keeps typed values for the fields that still exist and accept them', () => {
    const file = new File(['hello'], 'a.txt')
    const typed = { name: 'Ada', gone: 'x', urgent: true, price: file }
    expect(typedFor(FIELDS, typed)).toEqual({ ...firstTyped(FIELDS), name: 'Ada', urgent: true })
    expect(typedFor({ name: { type: 'boolean' } }, typed)).toEqual({ name: false })
    expect(typedFor({ price: { type: 'file' } }, typed)).toEqual({ price: file })
  })

  test('takes one file, which is not among the values, and refuses the same files as the server', async () => {
    const fields: Fields = { paper: { type: 'file' }, other: { type: 'file', required: false } }
    const file = new File(['hello'], 'a.txt', { type: 'text/plain' })
    expect(readTyped(fields, { paper: file, other: '' })).toEqual({
      ...{ data: {}, errors: {} },
      files: [{ name: 'paper', file }],
    })
    expect(readTyped(fields, { paper: file, other: file }).files.map(({ name }) => name)).toEqual(['paper', 'other'])
    const large = new File([new Uint8Array(3_932_161)], 'b')
    expect(readTyped(fields, { paper: large }).errors).toEqual({ paper: expect.stringContaining('too large') })
    expect(readTyped(fields, { paper: '' }).errors).toEqual({ paper: 'Required' })
  })

  test('leaves out the rows at the end of a list that nobody filled in', () => {
    const read = (list: unknown) => readTyped({ list: { type: 'array' } }, { list: JSON.stringify(list) }).data.list
    expect(read(['a', '', 'b', '', ''])).toEqual(['a', '', 'b'])
    expect(read([''])).toEqual([])
    expect(read([0, false, null, {}])).toEqual([0, false, null, {}])
  })

  test('reports errors by field, and leaves out optional empty fields', () => {
    const { data, errors } = readTyped(FIELDS, {
      name: ' ',
      count: '1.5',
      price: 'x',
      order: '{',
      urgent: true,
      size: '',
    })
    expect(data).toEqual({ urgent: true })
    expect(Object.keys(errors).sort()).toEqual(['count', 'name', 'order', 'price', 'size'])
  })

  test('sends an emptied text, so that its default does not come back, and never leaves another default out unasked', () => {
    const fields: Fields = {
      note: { type: 'string', default: 'standard text' },
      extra: { type: 'any', default: 1 },
      count: { type: 'integer', default: 3 },
      size: { type: 'string', options: ['S', 'M'], default: 'S' },
      plain: { type: 'string', required: false },
    }
    const emptied = { note: '', extra: ' ', count: '', size: '', plain: '' }
    expect(readTyped(fields, emptied)).toEqual({
      data: { note: '', extra: '' },
      errors: { count: 'Required', size: 'Required' },
      files: [],
    })
    expect(readTyped(fields, firstTyped(fields)).data).toEqual({ note: 'standard text', extra: 1, count: 3, size: 'S' })
    // The form never had them, as after a change of the fields: the server fills them in.
    expect(readTyped(fields, {})).toEqual({ data: {}, errors: {}, files: [] })
  })

  test('as a command has a value for each field, and no key', () => {
    const place = { origin: 'https://m.test', tenantId: 'ten_1', workflowId: 'wf_1' }
    const text = startCurl({ ...place, fields: { who: { type: 'string', default: "O'Hara" }, n: { type: 'integer' } } })
    expect(text).toContain('https://m.test/api/workflow/start-async/wf_1')
    expect(text).toContain(`-d '{"who":"O'\\''Hara","n":1}'`)
    expect(text).toContain('x-api-key: $API_KEY')
    const form = startCurl({
      ...place,
      fields: { doc: { type: 'file' }, n: { type: 'integer' }, why: { type: 'any' } },
    })
    expect(form).toContain('-F n=1')
    expect(form).toContain('-F why=text')
    expect(form).toContain('-F attachment=@file.pdf')
    expect(form).not.toContain('content-type')
  })
})

test('the list’s URL ignores invalid values', () => {
  const read = (url: string) => readListQuery((name) => new URLSearchParams(url).get(name) ?? '')
  expect(read('q= a &status=draft&sort=name&page=3')).toEqual({ q: 'a', status: 'draft', sort: 'name', page: 3 })
  expect(read('status=archived')).toEqual({ archived: true })
  expect(read('status=x&sort=x&page=-1')).toEqual({})
  expect(read('page=1e99')).toEqual({})
})

test('an import must be a JSON object', () => {
  expect(readImport('{"name":"A"}')).toEqual({ body: { name: 'A' } })
  for (const text of ['', '[]', 'null', '{']) expect(readImport(text)).toHaveProperty('problem')
})

test('the palette matches the beginnings of words, best match first', () => {
  const commands = ['API keys', 'New API key', 'New workflow', 'Workflows'].map((label) => ({ label }))
  const found = (text: string) => matching(commands, text).map(({ label }) => label)
  expect(found('work')).toEqual(['Workflows', 'New workflow'])
  expect(found('key api')).toEqual(['API keys', 'New API key'])
  expect(found('flow')).toEqual([])
  expect(found(' ')).toHaveLength(4)
})

test('a number beyond 2^53 is refused with that reason in a start and an import, and kept as text where any value may be', () => {
  const typed = { ...firstTyped(FIELDS), name: 'x', size: '"M"' }
  const errorsOf = (more: object) => readTyped(FIELDS, { ...typed, ...more }).errors
  const reason = 'This is too large to be kept exactly as a number; an id needs a field of type string'
  expect(errorsOf({ count: '90071992547409931', price: '90071992547409931' })).toEqual({ count: reason, price: reason })
  expect(errorsOf({ order: '{"id":9007199254740993}', note: '{"id":9007199254740993}' })).toEqual({
    order: expect.stringMatching(/^id: 9007199254740993 is too large/),
    note: expect.stringMatching(/^id: 9007199254740993 is too large/),
  })
  expect(readTyped(FIELDS, { ...typed, note: '9007199254740993' }).data.note).toBe('9007199254740993')
  expect(readImport('{"steps":[{"output":{"id":9007199254740993}}]}')).toEqual({
    problem: expect.stringMatching(/^steps\[0\].output.id: 9007199254740993 is too large/),
  })
})
