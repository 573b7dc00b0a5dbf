import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import type { JsonObject } from '@/server/definition/json'
import { BUILTIN_TOOLS } from '@/server/tools/builtin'
import { schemaProblems } from '@/server/tools/json-schema'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'
import { invoke } from './support'

let database: FreshDatabase
let ctx: ServiceContext
beforeAll(async () => {
  database = await freshDatabase()
  ctx = { ...(await newTenant(database)), now: () => new Date('2026-11-20T08:00:00.123Z') }
})
afterAll(() => database.close())

const call = (tool: string, args: JsonObject) => invoke(ctx, tool, { args })
const ok = (data: unknown) => ({ success: true, data })
const failed = { success: false, error: { code: 'EXECUTION_ERROR' } }

test('their schemas are ones that a tenant could save', () => {
  for (const { id, inputSchema } of Object.values(BUILTIN_TOOLS))
    expect(schemaProblems(inputSchema, id), id).toEqual([])
})

test.each(['tool_json', 'tool_date', 'tool_text', 'tool_csv'])('%s refuses an unknown operation', async (tool) => {
  for (const args of [{}, { operation: 'eval' }, { operation: 7 }])
    await expect(call(tool, args)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})

describe('tool_json', () => {
  test.each<[JsonObject, unknown]>([
    [{ operation: 'parse', text: ' {"a":[1,null]} ' }, { a: [1, null] }],
    [{ operation: 'parse', text: '{"__proto__":{"x":1},"a":1}' }, { a: 1 }],
    [{ operation: 'stringify', value: { a: [1] } }, '{"a":[1]}'],
    [{ operation: 'stringify', value: { a: 1 }, indent: 2 }, '{\n  "a": 1\n}'],
    [{ operation: 'get', value: { a: [{ b: 5 }] }, path: 'a[0].b' }, 5],
    [{ operation: 'get', text: '[[1,2]]', path: '[0][1]' }, 2],
    [{ operation: 'get', value: {}, path: 'a', default: 'none' }, 'none'],
    [{ operation: 'get', value: { a: null }, path: 'a', default: 'none' }, null],
  ])('%j', async (args, data) => {
    expect(await call('tool_json', args)).toEqual(ok(data))
  })
  test.each<JsonObject>([
    { operation: 'parse', text: '{' },
    { operation: 'parse' },
    { operation: 'parse', text: '['.repeat(100_000) },
    {
      operation: 'stringify',
      indent: 8,
      value: JSON.parse(`${'['.repeat(60)}${'1,'.repeat(40_000)}1${']'.repeat(60)}`),
    },
    { operation: 'get', value: {}, path: 'a' },
    { operation: 'get', value: {}, path: 'constructor' },
    { operation: 'get', value: {}, path: '__proto__' },
    { operation: 'get', value: {}, path: 'a} ${b' },
    { operation: 'get', value: {} },
  ])('fails: %#', async (args) => {
    expect(await call('tool_json', args)).toMatchObject(failed)
  })
})

test('tool_json indents large output, but not if that makes it too large', async () => {
  const value = Array<string>(60_000).fill('a[{:,')
  expect(await call('tool_json', { operation: 'stringify', value, indent: 1 })).toEqual(
    ok(JSON.stringify(value, null, 1)),
  )
})

describe('tool_date', () => {
  const date = '2026-01-31T22:30:05.007Z'
  test.each<[JsonObject, unknown]>([
    [{ operation: 'now' }, '2026-11-20T08:00:00.123Z'],
    [{ operation: 'add', date, months: 1 }, '2026-02-28T22:30:05.007Z'],
    [{ operation: 'add', date: '2024-02-29', years: 1 }, '2025-02-28T00:00:00.000Z'],
    [{ operation: 'add', date, months: -14, days: 1, hours: 2, minutes: -30, seconds: 1 }, '2024-12-02T00:00:06.007Z'],
    [{ operation: 'add', date: 0, weeks: 1 }, '1970-01-08T00:00:00.000Z'],
    [{ operation: 'add', date: '2026-01-01T00:00:00+02:00', days: 0 }, '2025-12-31T22:00:00.000Z'],
    [{ operation: 'add', date: '2026-01-01 10:00', days: 0 }, '2026-01-01T10:00:00.000Z'],
    [{ operation: 'format', date }, '2026-01-31T22:30:05'],
    [
      { operation: 'format', date, timeZone: 'Europe/Berlin', format: 'dd.MM.yyyy HH:mm XXX' },
      '31.01.2026 23:30 +01:00',
    ],
    [
      { operation: 'format', date, timeZone: 'Asia/Tokyo', format: "EEEE d MMMM 'at' h:mm a" },
      'Sunday 1 February at 7:30 AM',
    ],
    [{ operation: 'format', date, locale: 'de', format: 'EEE, d. MMM' }, 'Sa, 31. Jan'],
    [{ operation: 'format', date: '2027-03-01', locale: 'ru', format: 'd MMMM yyyy' }, '1 марта 2027'],
    [{ operation: 'format', date: '2027-03-01', locale: 'ru', format: 'MMMM yyyy' }, 'март 2027'],
    [{ operation: 'format', date: '2027-03-01', locale: 'pl', format: 'd MMMM' }, '1 marca'],
    [{ operation: 'format', date: '2027-03-01', locale: 'cs', format: 'd. MMMM' }, '1. března'],
    [{ operation: 'format', date: '2027-03-01', locale: 'uk', format: 'd MMMM' }, '1 березня'],
    [{ operation: 'format', date: '2027-03-01', locale: 'hr', format: 'd. MMMM' }, '1. ožujka'],
    [{ operation: 'format', date: '2027-03-01', locale: 'fi', format: 'd. MMMM' }, '1. maaliskuuta'],
    [{ operation: 'format', date: '2027-03-01', locale: 'ru', format: 'd MMM' }, '1 мар'],
    [{ operation: 'format', date: '2027-03-01', locale: 'el', format: 'dd MMMM' }, '01 Μαρτίου'],
    [{ operation: 'format', date, format: 'XXX SSS H:m:s' }, 'Z 007 22:30:5'],
    [{ operation: 'format', date: '2026-01-01', format: 'HH:mm' }, '00:00'],
    [{ operation: 'diff', from: '2026-01-01', to: '2026-03-01' }, 59],
    [{ operation: 'diff', from: '2026-01-01T12:00Z', to: '2026-01-01', unit: 'hours' }, -12],
  ])('%j', async (args, data) => {
    expect(await call('tool_date', args)).toEqual(ok(data))
  })
  test.each<JsonObject>([
    { operation: 'add', days: 1 },
    { operation: 'add', date: 'tomorrow', days: 1 },
    { operation: 'add', date: '2026-02-30', days: 1 },
    { operation: 'add', date: '2026-13-01', days: 1 },
    { operation: 'add', date: '11/20/2026', days: 1 },
    { operation: 'add', date: 0, years: 1_000_000 },
    { operation: 'add', date: 1e300 },
    { operation: 'format', date: 0, timeZone: 'Mars/Olympus' },
    { operation: 'format', date: 0, locale: 'x-y-z-!' },
    { operation: 'diff', from: '2026-01-01' },
  ])('fails: %j', async (args) => {
    expect(await call('tool_date', args)).toMatchObject(failed)
  })
})

describe('tool_text', () => {
  test.each<[JsonObject, unknown]>([
    [{ operation: 'template', template: '${_[1].x} of ${_}', values: ['a', { x: 'b' }] }, 'b of ["a",{"x":"b"}]'],
    [{ operation: 'template', template: 'Hi ${who.name}, ${n ?? 0}!', values: { who: { name: 'Ada' } } }, 'Hi Ada, 0!'],
    [{ operation: 'replace', text: 'a.b.c', search: '.', replacement: '$&' }, 'a$&b$&c'],
    [{ operation: 'replace', text: 'aXbXc', search: 'X', replacement: '-', all: false }, 'a-bXc'],
    [{ operation: 'replace', text: 'abc', search: '(a+)+$' }, 'abc'],
    [{ operation: 'split', text: 'a, b,c' }, ['a', ' b', 'c']],
    [{ operation: 'split', text: 'a-b-c', separator: '-', limit: 2 }, ['a', 'b']],
    [{ operation: 'join', items: [1, 'b', null, { c: 1 }], separator: '|' }, '1|b||{"c":1}'],
    [{ operation: 'trim', text: '  x ' }, 'x'],
    [{ operation: 'trim', text: '  x ', side: 'end' }, '  x'],
    [{ operation: 'case', text: 'straße', to: 'upper' }, 'STRASSE'],
    [{ operation: 'case', text: "the QUICK o'neil", to: 'title' }, "The Quick O'neil"],
    [{ operation: 'case', text: 'élan VITAL', to: 'sentence' }, 'Élan vital'],
    [{ operation: 'case', text: 'Order line-item ID', to: 'camel' }, 'orderLineItemId'],
    [{ operation: 'case', text: 'orderLineItem2', to: 'snake' }, 'order_line_item2'],
    [{ operation: 'case', text: 'Order Line', to: 'kebab' }, 'order-line'],
  ])('%j', async (args, data) => {
    expect(await call('tool_text', args)).toEqual(ok(data))
  })
  test.each<[string, JsonObject]>([
    ['a name without a value', { operation: 'template', template: '${a}', values: {} }],
    ['a template that is none', { operation: 'template', template: '${a', values: {} }],
    ['no text', { operation: 'trim' }],
    ['a template bomb', { operation: 'template', template: '${a}'.repeat(10_000), values: { a: 'x'.repeat(300_000) } }],
    [
      'a replace bomb',
      { operation: 'replace', text: 'a'.repeat(300_000), search: 'a', replacement: 'x'.repeat(300_000) },
    ],
    [
      'a join bomb',
      { operation: 'join', items: Array.from({ length: 9_000 }, () => ''), separator: 'x'.repeat(300_000) },
    ],
  ])('fails: %s', async (_, args) => {
    expect(await call('tool_text', args)).toMatchObject(failed)
  })
})

describe('tool_csv', () => {
  const text = '\ufeffname,note\r\nAda,"a ""quoted"", line\nbreak"\r\n\r\nBob,\r\n'
  const rows = [
    { name: 'Ada', note: 'a "quoted", line\nbreak' },
    { name: 'Bob', note: '' },
  ]
  test.each<[JsonObject, unknown]>([
    [{ operation: 'parse', text }, rows],
    [
      { operation: 'parse', text: 'a;b\n1;2', delimiter: ';', header: false },
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [{ operation: 'parse', text: '' }, []],
    [{ operation: 'parse', text: '__proto__,a\n1,2' }, [{ a: '2' }]],
    [{ operation: 'stringify', rows }, 'name,note\nAda,"a ""quoted"", line\nbreak"\nBob,\n'],
    [{ operation: 'stringify', rows: [{ a: 1 }, { b: true, a: null }] }, 'a,b\n1,\n,true\n'],
    [{ operation: 'stringify', rows: [{ a: 1, b: 2 }], columns: ['b'], header: false }, '2\n'],
    [
      {
        operation: 'stringify',
        rows: [
          [1, 'x;y'],
          [{ z: 1 }, null],
        ],
        delimiter: ';',
      },
      '1;"x;y"\n"{""z"":1}";\n',
    ],
    [{ operation: 'stringify', rows: [['=1+1']], escapeFormulas: true }, "'=1+1\n"],
    [{ operation: 'stringify', rows: [] }, ''],
  ])('%j', async (args, data) => {
    expect(await call('tool_csv', args)).toEqual(ok(data))
  })

  test('scans many columns only once', async () => {
    const names = Array.from({ length: 100_000 }, (_, i) => `c${i}`)
    const parsed = await call('tool_csv', { operation: 'parse', text: names.join(',') })
    expect(parsed).toEqual(ok([]))
    expect(await call('tool_csv', { operation: 'parse', text: [...names, 'c0'].join(',') })).toMatchObject(failed)
  })

  test('reads back its own output', async () => {
    const written = (await call('tool_csv', { operation: 'stringify', rows })) as { data: string }
    expect(await call('tool_csv', { operation: 'parse', text: written.data })).toEqual(ok(rows))
  })

  test.each<[string, JsonObject]>([
    ['an open quote', { operation: 'parse', text: 'a\n"b' }],
    ['a row that is too long', { operation: 'parse', text: 'a,b\n1,2,3' }],
    ['a column twice', { operation: 'parse', text: 'a,a\n1,2' }],
    ['mixed rows', { operation: 'stringify', rows: [{ a: 1 }, [2]] }],
    ['rows that are none', { operation: 'stringify', rows: [1] }],
    ['a quote as delimiter', { operation: 'parse', text: 'a', delimiter: '"' }],
    ['long names on many rows', { operation: 'parse', text: `${'x'.repeat(100_000)}\n${'a\n'.repeat(100_000)}` }],
    [
      'a column named many times',
      { operation: 'stringify', rows: [{ a: 'x'.repeat(300_000) }], columns: Array(900).fill('a') },
    ],
    ['too many cells to read', { operation: 'parse', text: ','.repeat(600_000), header: false }],
    ['too many cells', { operation: 'stringify', rows: Array.from({ length: 2_000 }, (_, i) => ({ [`c${i}`]: 1 })) }],
  ])('fails: %s', async (_, args) => {
    expect(await call('tool_csv', args)).toMatchObject(failed)
  })
})
