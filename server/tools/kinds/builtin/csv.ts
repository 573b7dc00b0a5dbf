import { CsvError, parse } from 'csv-parse/sync'
import { stringify } from 'csv-stringify/sync'
import { z } from 'zod'
import { AnyJson } from '../../../definition/any-json'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../definition/json'
import { asText } from '../../../definition/template'
import { CannotDo, computing, need, refuseLarge } from './define'

const MAX_CELLS = 500_000

export const CsvArgs = z.object({
  operation: z.enum(['parse', 'stringify']),
  text: z.string().optional().describe('parse: the CSV text'),
  rows: z.array(AnyJson).optional().describe('stringify: a list of objects, or of lists of cells'),
  header: z
    .boolean()
    .default(true)
    .describe('parse: the first line has the column names and rows become objects; stringify: write such a line'),
  columns: z.array(z.string().max(1_000)).max(1_000).optional().describe('stringify: which columns, in which order'),
  delimiter: z.string().length(1).default(','),
  escapeFormulas: z
    .boolean()
    .default(false)
    .describe('stringify: keep spreadsheets from running cells that start with = + - @'),
})

export const csvTool = computing(CsvArgs, (args) => {
  const { header, delimiter } = args
  if (/["\r\n]/.test(delimiter)) throw new CannotDo('delimiter must not be a quote or a line break.')
  if (args.operation === 'parse') return read(need(args.text, 'text', 'parse'), { header, delimiter })
  const rows = need(args.rows, 'rows', 'stringify')
  return write(rows, { ...args, columns: args.columns })
})

function read(text: string, { header, delimiter }: { header: boolean; delimiter: string }): JsonValue {
  refuseManyCells(text, delimiter)
  let lines: string[][]
  try {
    lines = parse(text, { delimiter, bom: true, skip_empty_lines: true })
  } catch (err) {
    if (err instanceof CsvError) throw new CannotDo(err.message)
    throw err
  }
  if (!header) return lines
  const [names = [], ...rows] = lines
  const seen = new Set<string>()
  const twice = names.find((name) => seen.size === seen.add(name).size)
  if (twice !== undefined) throw new CannotDo(`The column ${JSON.stringify(twice)} appears twice.`)
  // Each row repeats the names of all columns.
  refuseLarge(text.length + rows.length * names.reduce((size, name) => size + name.length + 6, 0))
  return rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i] ?? ''])))
}

/** Counts cells before they are made; delimiters inside quotes count too. */
function refuseManyCells(text: string, delimiter: string): void {
  let cells = 1
  for (let i = 0; i < text.length; i++) {
    const char = text[i]
    if (char === delimiter || char === '\n' || char === '\r') cells++
  }
  if (cells > MAX_CELLS) throw new CannotDo(`More than ${MAX_CELLS} cells.`)
}

function write(
  rows: JsonValue[],
  options: { header: boolean; delimiter: string; columns: string[] | undefined; escapeFormulas: boolean },
): string {
  const { header, delimiter, escapeFormulas } = options
  const objects = rows.filter(isJsonObject)
  if (objects.length > 0 && objects.length < rows.length) throw new CannotDo('rows must be all objects or all lists.')
  if (objects.length === 0 && !rows.every((row) => Array.isArray(row)))
    throw new CannotDo('rows must be objects or lists.')
  const names = options.columns ?? (objects.length > 0 ? namesOf(objects) : null)
  if (names && names.length * rows.length > MAX_CELLS) throw new CannotDo(`More than ${MAX_CELLS} cells.`)
  let size = 0
  // The same column may be listed many times, so count its content each time.
  const cellOf = (value: JsonValue) => {
    const cell = asText(value)
    size += cell.length + 1
    refuseLarge(size)
    return cell
  }
  const cells = rows.map((row) => {
    if (isJsonObject(row))
      return (names ?? []).map((name) => cellOf(Object.hasOwn(row, name) ? (row[name] ?? null) : null))
    return Array.isArray(row) ? row.map(cellOf) : []
  })
  return stringify(names && header ? [names, ...cells] : cells, { delimiter, escape_formulas: escapeFormulas })
}

/** In order of first appearance. */
function namesOf(rows: JsonObject[]): string[] {
  return [...new Set(rows.flatMap((row) => Object.keys(row)))]
}
