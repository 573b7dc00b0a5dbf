import { describe, expect, test } from 'vitest'
import { COLUMNS, ROWS, readCsv } from '@/app/_ui/files/csv-rows'
import { previewKind, typeWords } from '@/app/_ui/files/kinds'
import { sniffType } from '@/server/files/sniff'

const file = (name: string, type: string, size = 10) => ({ name, type, size })

describe('a preview', () => {
  test('is chosen by the detected type, never by the name', () => {
    expect(previewKind(file('a.txt', 'image/png'))).toBe('image')
    expect(previewKind(file('a.png', 'application/pdf'))).toBe('pdf')
    expect(previewKind(file('a.csv', 'text/plain; charset=utf-8'))).toBe('csv')
    expect(previewKind(file('a.log', 'text/plain; charset=utf-8'))).toBe('text')
    expect(previewKind(file('a.csv', 'application/octet-stream'))).toBeNull()
    expect(previewKind(file('a.pdf', 'application/pdf', 100_000_000))).toBeNull()
  })

  test('exists for nothing that a browser could execute', () => {
    for (const text of ['<svg onload=alert(1)>', '<!doctype html><script>1</script>', '<?xml version="1.0"?><a/>']) {
      const type = sniffType(Buffer.from(text))
      for (const name of ['a.svg', 'a.png', 'a.html', 'a.txt', 'a.csv'])
        expect(previewKind(file(name, type))).toBeNull()
    }
  })

  test('says what the file is', () => {
    expect(typeWords(file('a', 'image/png'))).toBe('PNG image')
    expect(typeWords(file('a', 'application/pdf'))).toBe('PDF')
    expect(typeWords(file('A.CSV', 'text/plain; charset=utf-8'))).toBe('CSV')
    expect(typeWords(file('a', 'application/octet-stream'))).toBe('File')
  })
})

describe('a CSV file', () => {
  const rows = (text: string, cut = false) => readCsv(text, cut)?.rows

  test('is read with the delimiter of its first line, quotes and a byte order mark', () => {
    expect(rows('\uFEFFa,b\n1,"2,5"\n')).toEqual([
      ['a', 'b'],
      ['1', '2,5'],
    ])
    expect(rows('a;b\n1,5;"x;y"')).toEqual([
      ['a', 'b'],
      ['1,5', 'x;y'],
    ])
    expect(rows('a\tb\n1\t2')).toEqual([
      ['a', 'b'],
      ['1', '2'],
    ])
    expect(rows('one\ntwo')).toEqual([['one'], ['two']])
  })

  test('has rows of equal length, and leaves out a row that is cut', () => {
    expect(rows('a,b,c\n1\n1,2,3,4')).toEqual([
      ['a', 'b', 'c', ''],
      ['1', '', '', ''],
      ['1', '2', '3', '4'],
    ])
    expect(rows('a,b\n1,2\n3,"4', true)).toEqual([
      ['a', 'b'],
      ['1', '2'],
    ])
  })

  test('is no table if it is none', () => {
    expect(readCsv('', false)).toBeNull()
    expect(readCsv('a,"b\n1,2', false)).toBeNull()
  })

  test('is bounded in rows and columns', () => {
    const wide = Array.from({ length: COLUMNS + 5 }, (_, at) => at).join(',')
    const found = readCsv(`${wide}\n`.repeat(ROWS + 50), false)
    expect(found).toMatchObject({ more: true, wider: true })
    expect(found?.rows).toHaveLength(ROWS + 1)
    expect(found?.rows[0]).toHaveLength(COLUMNS)
  })
})
