import { expect, test } from 'vitest'
import { aroundFileReferences, fileReferencesIn, isFileReference, withoutFileTwice } from '@/server/definition/file-ids'

const A = '0b9c3c5e-58a3-4f0e-9a8e-6d2f5f1d7c11'
const B = '5b3bb1a0-0000-4000-8000-0123456789ab'

test('the id of a file is a whole UUID, in either case', () => {
  for (const id of [A, A.toUpperCase()]) expect(isFileReference(id)).toBe(true)
  for (const other of [`${A}0`, `x${A}`, ` ${A}`, A.slice(1), 7, null, [A]]) expect(isFileReference(other)).toBe(false)
})

test('ids within a text are found where they stand alone, each once', () => {
  expect(fileReferencesIn(`See ${A}, "${B}" and ${A}.`)).toEqual([A, B])
  for (const text of [`${A}${B}`, `x${A}`, `${A}-1`, `run_${A}`, 'nothing']) expect(fileReferencesIn(text)).toEqual([])
})

test('a text in pieces is the text, with every id in an odd place', () => {
  for (const text of [A, `${A} ${B}`, `See ${A}.`, 'none', '', `x${A} ${B}`]) {
    const pieces = aroundFileReferences(text)
    expect(pieces.join('')).toBe(text)
    expect(pieces.filter((_, index) => index % 2 === 1)).toEqual(text.match(/(?<![\w-])[0-9a-f-]{36}(?![\w-])/g) ?? [])
  }
})

test('fileId goes if another field names the same file, and stays otherwise', () => {
  const names = (value: object) => withoutFileTwice(Object.entries(value)).map(([name]) => name)
  expect(names({ receipt: A, fileId: A })).toEqual(['receipt'])
  expect(names({ fileId: A, receipt: A.toUpperCase() })).toEqual(['receipt'])
  expect(names({ receipts: [B, A], fileId: A })).toEqual(['receipts'])
  expect(names({ receipt: B, fileId: A })).toEqual(['receipt', 'fileId'])
  expect(names({ fileId: A })).toEqual(['fileId'])
  expect(names({ fileId: 'x', other: 'x' })).toEqual(['fileId', 'other'])
})
