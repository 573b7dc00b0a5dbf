import { expect, test } from 'vitest'
import { differencesFrom, type Expected } from '@/server/definition/test-case'

const places = (expected: Expected, data: never | object | string | number | null) =>
  differencesFrom(expected, { data: data as never }).map(({ path, expected, actual }) => [path, expected, actual])
const FAILED = { failed: { code: 'TIMEOUT', message: 'took too long' } }

test('a result that must be equal may have its names in any order, and differences are found where they are', () => {
  const value = { id: 7, lines: [{ sku: 'a' }, { sku: 'b' }], note: null }
  expect(places({ kind: 'equals', value }, { note: null, lines: [{ sku: 'a' }, { sku: 'b' }], id: 7 })).toEqual([])
  expect(places({ kind: 'equals', value }, { id: '7', lines: [{ sku: 'a' }, { sku: 'c' }, {}], more: true })).toEqual([
    ['id', '7', '"7"'],
    ['lines[1].sku', '"b"', '"c"'],
    ['lines[2]', 'nothing', '{}'],
    ['note', 'null', 'nothing'],
    ['more', 'nothing', 'true'],
  ])
  expect(places({ kind: 'equals', value: 3 }, 4)).toEqual([['', '3', '4']])
  const long = Array.from({ length: 1_000 }, (_, n) => n)
  expect(places({ kind: 'equals', value: long }, [])).toHaveLength(20)
})

test('fields are compared alone, and one that is not there, or only inherited, is nothing', () => {
  const fields = [
    { path: ['total'], value: 12 },
    { path: ['lines', 0, 'sku'], value: 'a' },
  ]
  expect(places({ kind: 'fields', fields }, { total: 12, at: 'whenever', lines: [{ sku: 'a' }] })).toEqual([])
  expect(places({ kind: 'fields', fields }, { total: 12, lines: 'none' })).toEqual([['lines[0].sku', '"a"', 'nothing']])
  const inherited: Expected = { kind: 'fields', fields: [{ path: ['constructor'], value: null }] }
  expect(places(inherited, {})).toEqual([['constructor', 'null', 'nothing']])
})

test('an answer contains a text in upper or lower case, also as data', () => {
  expect(places({ kind: 'contains', text: 'on its way' }, 'It is ON ITS WAY.')).toEqual([])
  expect(places({ kind: 'contains', text: 'lost' }, { state: 'Lost' })).toEqual([])
  expect(places({ kind: 'contains', text: 'lost' }, 'It is here.')).toHaveLength(1)
})

test('only a case that expects a failure passes with one, and with its code if it names one', () => {
  expect(differencesFrom({ kind: 'fails' }, FAILED)).toEqual([])
  expect(differencesFrom({ kind: 'fails', code: 'TIMEOUT' }, FAILED)).toEqual([])
  expect(differencesFrom({ kind: 'fails', code: 'HTTP_ERROR' }, FAILED)).toEqual([
    { path: '', expected: 'fails with HTTP_ERROR', actual: 'fails: TIMEOUT, took too long' },
  ])
  expect(differencesFrom({ kind: 'fails' }, { data: 1 })).toEqual([
    { path: '', expected: 'fails', actual: 'succeeds: 1' },
  ])
  expect(differencesFrom({ kind: 'succeeds' }, FAILED)).toHaveLength(1)
  expect(differencesFrom({ kind: 'succeeds' }, { data: null })).toEqual([])
})
