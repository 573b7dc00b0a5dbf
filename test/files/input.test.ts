import { describe, expect, test } from 'vitest'
import type { Fields } from '@/server/definition/schema'
import { AppError } from '@/server/errors'
import { MultipartInput } from '@/server/http/multipart-input'
import { NO_FILES, readStartInput, type SentFiles } from '@/server/runs/input'

const ID = '3f2504e0-4f89-41d3-9a0c-0305e82c3301'
/** The form's file. */
const ATTACHED: SentFiles = new Map([['attachment', [ID]]])
const form = (entries: Record<string, string | string[]>) =>
  new MultipartInput(new Map(Object.entries(entries).map(([name, value]) => [name, [value].flat()])), null)

function refused(payload: Fields, entries: Record<string, string | string[]>, sent: SentFiles = NO_FILES) {
  try {
    readStartInput(payload, form(entries), sent)
  } catch (err) {
    if (err instanceof AppError) return { code: err.code, paths: err.details.map(({ path }) => path) }
    throw err
  }
  return expect.unreachable('accepted')
}

describe('texts of a form', () => {
  test.each<[Fields[string]['type'], string, unknown]>([
    ['string', ' 1 ', ' 1 '],
    ['string', '', ''],
    ['any', '{"a":1}', '{"a":1}'],
    ['number', '-1.5e3', -1500],
    ['number', ' 7 ', 7],
    ['integer', '42', 42],
    ['integer', '1.0', 1],
    ['boolean', 'true', true],
    ['boolean', 'false', false],
    ['object', '{"a":{"b":[1]}}', { a: { b: [1] } }],
    ['array', '[1,"x"]', [1, 'x']],
    ['file', ID, ID],
  ])('a field of type %s: %j', (type, text, value) => {
    expect(readStartInput({ f: { type } }, form({ f: text }))).toEqual({ f: value })
  })

  test.each<[Fields[string]['type'], string]>([
    ['number', ''],
    ['number', 'NaN'],
    ['number', 'Infinity'],
    ['number', '0x10'],
    ['number', '1e999'],
    ['number', '1,5'],
    ['integer', '1.5'],
    ['integer', '9007199254740993'],
    ['boolean', 'yes'],
    ['boolean', '1'],
    ['boolean', ''],
    ['object', '[1]'],
    ['object', '{"a":'],
    ['object', 'text'],
    ['array', '{}'],
    ['array', `${'['.repeat(100)}${']'.repeat(100)}`],
    ['object', '{"a":"\\u0000"}'],
    ['object', '{"a":"\\ud800"}'],
    ['string', 'a\u0000b'],
    ['file', 'not-a-uuid'],
  ])('a field of type %s rejects %j', (type, text) => {
    expect(refused({ f: { type } }, { f: text })).toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('every invalid field is named once', () => {
    const payload: Fields = {
      a: { type: 'number' },
      b: { type: 'boolean' },
      c: { type: 'string' },
      d: { type: 'string' },
    }
    expect(refused(payload, { a: 'x', b: 'x', d: ['1', '2'] }).paths.sort()).toEqual(['a', 'b', 'c', 'd'])
  })

  test('options are compared after the text is converted to its type', () => {
    const payload: Fields = { n: { type: 'integer', options: [1, 2] } }
    expect(readStartInput(payload, form({ n: '2' }))).toEqual({ n: 2 })
    expect(refused(payload, { n: '3' }).paths).toEqual(['n'])
  })

  test('undeclared parts are ignored, even when they are sent twice', () => {
    const input = form({ x: ['1', '2'], __proto__: 'p', constructor: 'c' })
    expect(readStartInput({}, input)).toEqual({})
  })

  test('a part data contains typed values that take precedence, unless data is a field', () => {
    const payload: Fields = { n: { type: 'number' }, s: { type: 'string' } }
    expect(readStartInput(payload, form({ n: 'broken', s: 'top', data: '{"n":3}' }))).toEqual({ n: 3, s: 'top' })
    expect(refused(payload, { s: 'x', n: '1', data: '{"n":"3"}' }).paths).toEqual(['n'])
    expect(refused(payload, { s: 'x', n: '1', data: '{broken' }).paths).toEqual(['data'])
    expect(refused(payload, { s: 'x', n: '1', data: '[]' }).paths).toEqual(['data'])
    expect(readStartInput({ data: { type: 'string' } }, form({ data: '{"n":3}' }))).toEqual({ data: '{"n":3}' })
    const polluting = form({ data: '{"__proto__":{"polluted":1},"n":1,"s":""}' })
    expect(readStartInput(payload, polluting)).toEqual({ n: 1, s: '' })
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
})

describe('the reference of the file', () => {
  test('is data.fileId and fills file fields that have no value', () => {
    const other = ID.replace('3f', '4f')
    const payload: Fields = {
      a: { type: 'file' },
      b: { type: 'file', required: false },
      c: { type: 'file' },
      d: { type: 'string', required: false },
    }
    expect(readStartInput(payload, form({ c: other }), ATTACHED)).toEqual({ a: ID, b: ID, c: other, fileId: ID })
  })

  test('fills a declared fileId, and is rejected if the sender also sent one', () => {
    for (const type of ['file', 'string', 'any'] as const) {
      expect(readStartInput({ fileId: { type } }, form({}), ATTACHED)).toEqual({ fileId: ID })
      expect(refused({ fileId: { type } }, { fileId: ID }, ATTACHED).paths).toEqual(['fileId'])
    }
    expect(refused({ fileId: { type: 'number' } }, {}, ATTACHED).paths).toEqual(['fileId'])
  })

  test('is never replaced by an undeclared fileId from the sender', () => {
    expect(readStartInput({}, form({ fileId: 'evil', data: '{"fileId":"evil"}' }), ATTACHED)).toEqual({ fileId: ID })
    expect(readStartInput({}, { fileId: 'evil' })).toEqual({})
  })
})

describe('files under the names of fields', () => {
  const LIST = { type: 'array', items: { type: 'file' } } as const
  const OTHER = 'a5c1f3f8-2f2e-4d60-9b50-0f6d1d1f0c11'

  test('are the values of these fields, and nothing else', () => {
    const sent = new Map([
      ['a', [ID]],
      ['all', [ID, OTHER]],
    ])
    const payload: Fields = { a: { type: 'file' }, all: LIST, b: { type: 'file', required: false } }
    expect(readStartInput(payload, form({}), sent)).toEqual({ a: ID, all: [ID, OTHER] })
  })

  test('may come with an attachment, which fills only empty fields', () => {
    const sent = new Map([...ATTACHED, ['a', [OTHER]]])
    const payload: Fields = { a: { type: 'file' }, b: { type: 'file' }, all: LIST }
    expect(readStartInput(payload, form({}), sent)).toEqual({ a: OTHER, b: ID, all: [ID], fileId: ID })
  })

  test('are refused where no field takes them', () => {
    const payload: Fields = { a: { type: 'file' }, text: { type: 'string' } }
    const given = (sent: [string, string[]][], entries = {}) =>
      refused(payload, { text: 'x', ...entries }, new Map(sent))
    expect(given([['a', [ID, OTHER]]]).paths).toContain('a')
    expect(given([['a', [ID]]], { a: ID }).paths).toContain('a')
    expect(given([['text', [ID]]]).paths).toContain('text')
    expect(given([['nothing', [ID]]]).paths).toContain('nothing')
    expect(given([['constructor', [ID]]]).paths).toContain('constructor')
  })

  test('a list of files has nothing else in it', () => {
    for (const all of ['["x"]', '[7]', `["${ID}", null]`])
      expect(refused({ all: LIST }, { all }).paths).toEqual(['all'])
    expect(readStartInput({ all: LIST }, form({ all: `["${ID}"]` }))).toEqual({ all: [ID] })
  })
})
