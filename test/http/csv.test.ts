import { parse } from 'csv-parse/sync'
import { expect, test } from 'vitest'
import { csvFile } from '@/server/http/csv'

test('a CSV file declares its encoding to a spreadsheet, and holds no formula', () => {
  const rows = [{ name: 'Überweisung', sum: '=1+1', test: true }]
  const text = csvFile(rows, [
    ['name', ({ name }) => name],
    ['sum', ({ sum }) => sum],
    ['test', ({ test }) => test],
  ])
  expect([...Buffer.from(text).subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf])
  expect(parse(text, { bom: true, columns: true })).toEqual([{ name: 'Überweisung', sum: "'=1+1", test: 'true' }])
})
