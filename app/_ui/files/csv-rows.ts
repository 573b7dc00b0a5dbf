import { parse } from 'csv-parse/browser/esm/sync'

/** The most that is shown of a table. */
export const ROWS = 200
export const COLUMNS = 50

const DELIMITERS = [',', ';', '\t', '|']

/**
 * The first rows of a CSV text, the head first, all of the same length; null if it is none.
 * @param cut whether the text ends somewhere within a row
 */
export function readCsv(text: string, cut: boolean): { rows: string[][]; more: boolean; wider: boolean } | null {
  const whole = cut ? text.slice(0, text.lastIndexOf('\n') + 1) : text
  let found: string[][]
  try {
    found = parse(whole, {
      bom: true,
      delimiter: delimiterOf(whole),
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      to: ROWS + 2,
    })
  } catch {
    return null
  }
  if (found.length === 0) return null
  const wide = found.reduce((most, row) => Math.max(most, row.length), 0)
  const columns = Math.min(wide, COLUMNS)
  const rows = found.slice(0, ROWS + 1).map((row) => Array.from({ length: columns }, (_, at) => row[at] ?? ''))
  return { rows, more: cut || found.length > ROWS + 1, wider: wide > COLUMNS }
}

/** The most frequent one outside of quotes in the first line, as spreadsheets in many countries write a semicolon. */
function delimiterOf(text: string): string {
  const [line = ''] = text.replaceAll(/"[^"]*"/g, '').split('\n', 1)
  const counts = DELIMITERS.map((one) => line.split(one).length)
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ','
}
