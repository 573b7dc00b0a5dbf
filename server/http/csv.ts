import { stringify } from 'csv-stringify/sync'

/**
 * A CSV file for spreadsheets: with a byte order mark, without which Excel assumes Windows-1252, and without cells that
 * would be formulas.
 * @param columns each column's name, and its value for a row
 */
export function csvFile<Row>(
  rows: readonly Row[],
  columns: readonly (readonly [string, (row: Row) => unknown])[],
): string {
  const lines = rows.map((row) => columns.map(([, of]) => of(row)))
  return stringify([columns.map(([name]) => name), ...lines], {
    bom: true,
    cast: { boolean: String },
    escape_formulas: true,
    record_delimiter: 'windows',
  })
}
