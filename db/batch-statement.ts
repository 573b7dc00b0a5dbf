/** A statement for any number of rows, each with a different key. */
export interface BatchStatement {
  /** Skips rows that another transaction has locked. */
  skipLocked: string
  /** Waits for locked rows. */
  waitForLock: string
  columns: RowColumns
}

/** The columns that rows may have. A row is sent as an array; each column has a fixed position in it. */
export interface RowColumns {
  types: readonly string[]
  places: ReadonlyMap<string, number>
}

/** Reads some columns of the row `i`: part of a `from`, called `x`. */
export type ReadFields = (names: string) => string

/**
 * @param list names with their types, separated by commas; the most common ones first, because a row ends with its last
 * value
 */
export function rowColumns(list: string): RowColumns {
  const columns = list.split(',').map((column) => column.trim().split(' '))
  return {
    types: columns.map(([, ...type]) => type.join(' ')),
    places: new Map(columns.map(([name = ''], place) => [name, place])),
  }
}

/**
 * @param always columns that most parts of the statement read: they become columns of the table `i`
 * @param textOf builds the statement from the table `i` (a part of its `with`), a reader for other columns, and the
 * lock mode. `i` also has `ord`, the row's position, and `row`, the whole row; where a part reads from another part,
 * that is named `i` too and has selected `i.*`
 * @throws Error if it reads a column that is not in the list
 */
export function batchStatement(
  columns: RowColumns,
  always: string,
  textOf: (rows: string, read: ReadFields, locked: 'skip locked' | '') => string,
): BatchStatement {
  // Always true, but makes Postgres expect a single row, so that it uses an index instead of a table scan.
  const rows = `i as (
      select ord::int, of.row, ${fieldsOf('of.row', columns, always)}
      from jsonb_array_elements($1::jsonb) with ordinality of(row, ord)
      where ord between 1 and ${MAX_ROWS})`
  const read = readerOf(columns)
  return { skipLocked: textOf(rows, read, 'skip locked'), waitForLock: textOf(rows, read, ''), columns }
}

/** Maximum number of rows in a shared statement. */
export const MAX_ROWS = 32

/** Postgres resolves the subquery, so each value is read where it is used and none is passed from part to part. */
export function readerOf(columns: RowColumns): ReadFields {
  return (names) => `lateral (select ${fieldsOf('i.row', columns, names)}) x`
}

/**
 * The named columns of a row: Postgres reads a value by position several times faster than by name.
 * @param row a value of type `jsonb`
 * @throws Error if the list has no such column
 */
export function fieldsOf(row: string, { places, types }: RowColumns, names = [...places.keys()].join()): string {
  return names
    .split(',')
    .map((each) => {
      const name = each.trim()
      const place = places.get(name)
      if (place === undefined) throw new Error(`Rows have no column ${name}`)
      const type = types[place]
      const value = type === 'jsonb' ? `nullif(${row}->${place}, 'null')` : `(${row}->>${place})::${type}`
      return `${value} as ${name}`
    })
    .join(', ')
}

/**
 * The values of a row in column order, up to the last one present. Times are sent as text, and so are values of type
 * `json`: inside `jsonb` they would lose their formatting and key order.
 * @throws Error if no column exists for a value
 */
export function encodeRow({ places, types }: RowColumns, row: object): unknown[] {
  const given = row as Record<string, unknown>
  const values: unknown[] = []
  for (const name in given) {
    const value = given[name]
    if (value == null) continue
    const place = places.get(name)
    if (place === undefined) throw new Error(`Rows have no column ${name}`)
    while (values.length < place) values.push(null)
    values[place] = typeof value === 'object' ? encoded(value, types[place]) : value
  }
  return values
}

function encoded(value: object, type: string | undefined): unknown {
  if (type === 'json') return jsonOf(value)
  return value instanceof Date ? textOfTime(value) : value
}

/** Most times of a row, and of rows sent together, are one. */
let lastTime = { ms: Number.NaN, text: '' }

function textOfTime(time: Date): string {
  const ms = time.getTime()
  if (ms !== lastTime.ms) lastTime = { ms, text: time.toISOString() }
  return lastTime.text
}

/** Text columns never contain half a surrogate pair: sent as a parameter of its own, it would arrive as U+FFFD. */
export function jsonOf(value: unknown): string {
  const json = JSON.stringify(value)
  if (!json.includes('\\ud')) return json
  return JSON.stringify(value, (_name, part: unknown) =>
    typeof part === 'string' ? Buffer.from(part).toString() : part,
  )
}
