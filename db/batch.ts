import { sql as drizzleSql } from 'drizzle-orm'
import { sqlState } from './deadline'
import { shared } from './shared'
import type { Db, Tx } from './types'

/** A statement for any number of rows. */
export interface RowStatement {
  /** Leaves out rows that somebody has locked. */
  skipping: string
  /** Waits for them. */
  waiting: string
  columns: readonly Column[]
}

interface Column {
  name: string
  type: string
}

/**
 * A statement whose rows are a table named `i`, with `ord`, which says which row it is.
 * @param columns names with their types; a row need not have all of them
 * @param textOf the statement, given the table as a part of its `with`, and how it locks rows. It writes each column as
 * `i.name`, and where it reads from another part, that part is named `i` too and has selected `i.*`
 */
export function rowStatement(
  columns: string,
  textOf: (rows: string, locked: 'skip locked' | '') => string,
): RowStatement {
  const each = columnsIn(columns)
  const withRows = (locked: 'skip locked' | '') => readWhereUsed(textOf(ROWS, locked), each)
  return { skipping: withRows('skip locked'), waiting: withRows(''), columns: each }
}

/** Stands for the table `i` until it is known what the statement reads of it. */
const ROWS = '/* rows */'
/** A column, as a statement writes it. */
const COLUMN = /\bi\.(\w+)/g
/** What is read as often as this is a column of its own. */
const OFTEN = 3

/**
 * Has each part of a statement read its columns from the row as it was sent, and so passes few columns from part to part:
 * Postgres describes and copies all of them for each part, whether it reads them or not.
 */
function readWhereUsed(text: string, columns: readonly Column[]): string {
  const uses = new Map<string, number>()
  for (const [, name = ''] of text.matchAll(COLUMN)) uses.set(name, (uses.get(name) ?? 0) + 1)
  const rare = new Map<string, string>()
  const fields = ['ord::int', 'of.row']
  for (const [at, { name, type }] of columns.entries()) {
    if ((uses.get(name) ?? 0) >= OFTEN) fields.push(`${fieldOf('of.row', at, type)} as ${name}`)
    else rare.set(name, fieldOf('i.row', at, type))
  }
  // The condition is always true. It makes Postgres expect a single row, so that it uses an index instead of reading a
  // table.
  const rows = `i as (
      select ${fields.join(', ')} from jsonb_array_elements($1::jsonb) with ordinality of(row, ord)
      where ord between 1 and ${MOST_ROWS})`
  return text.replace(COLUMN, (column, name: string) => rare.get(name) ?? column).replace(ROWS, () => rows)
}

/** @param columns names with their types, each after a comma but the first */
export function columnsIn(columns: string): Column[] {
  return columns.split(',').map((column) => {
    const [name = '', ...type] = column.trim().split(' ')
    return { name, type: type.join(' ') }
  })
}

/**
 * The columns of a row that `arrayOf` has made an array: Postgres reads a value by its position several times faster than
 * by its name.
 * @param row a value of type `jsonb`
 */
export function fieldsOf(row: string, columns: readonly Column[]): string {
  return columns.map(({ name, type }, at) => `${fieldOf(row, at, type)} as ${name}`).join(', ')
}

function fieldOf(row: string, at: number, type: string): string {
  return type === 'jsonb' ? `nullif(${row}->${at}, 'null')` : `(${row}->>${at})::${type}`
}

/** More rows, or more text, than this never share a statement. */
const MOST_ROWS = 32
const MOST_CHARS = 256 * 1024
/** How many statements of one kind are sent at once. Meanwhile, further rows are collected. */
const MOST_UNDER_WAY = 2
/** How many callers go on in one turn of the event loop, so that what else has arrived does not wait for all of them. */
const MOST_PER_TURN = 16
/** So many rows do not wait for more if none are under way, so that Postgres and this process work at the same time. */
const ENOUGH_ROWS = 8

interface Waiting {
  /** What no other row of the same statement may have. */
  key: string
  json: string
  resolve: (row: never) => void
  reject: (reason: unknown) => void
}

interface Line {
  rows: Waiting[]
  /** The keys of the rows that are being sent: another row with the same key would find its rows locked. */
  keys: Set<string>
  underWay: number
  scheduled: boolean
}

/** The rows that wait to be sent, by pool and statement. */
const lines = new WeakMap<Db, Map<RowStatement, Line>>()

/**
 * Sends a row with its statement, together with rows that others send at the same time: they share a round trip and a
 * commit, and each caller waits for its own. A row that is locked, or for which the statement returns nothing, is sent
 * again on its own. If a row makes the statement fail, each is sent on its own, so none fails because of another.
 * @param key rows with the same key never share a statement
 * @returns what the statement returned for the row; null for nothing
 */
export async function sendRow<Row>(
  db: Db | Tx,
  statement: RowStatement,
  key: string,
  row: object,
): Promise<Row | null> {
  const json = jsonOf(arrayOf(statement.columns, row))
  const isAlone = !('$client' in db) || json.length > MOST_CHARS / 4 || shared().deadline.getStore() !== undefined
  if (isAlone) return sendAlone(db, statement, key, json)
  const line = lineOf(db, statement)
  const found = await new Promise<Row | null>((resolve, reject) => {
    line.rows.push({ key, json, resolve, reject })
    schedule(db, statement, line)
  })
  // Another transaction had locked one of its rows, or its fence rejected it. Only a statement that waits can tell
  // which.
  return found ?? sendAlone(db, statement, key, json)
}

/** The last statement of each key that is sent on its own. */
const turns = new Map<string, Promise<unknown>>()

/**
 * May wait long for a lock, so it does not use the few connections that rows share, and no more than one for each key.
 */
async function sendAlone<Row>(db: Db | Tx, { waiting }: RowStatement, key: string, json: string): Promise<Row | null> {
  const send = async () => (await sendByDrizzle<Row>(db, waiting, `[${json}]`))[0] ?? null
  // A transaction has its connection already, and may have locked rows that the others wait for.
  if (!('$client' in db)) return send()
  const before = turns.get(key)
  const mine = before ? before.then(send, send) : send()
  const done = mine.then(
    () => {},
    () => {},
  )
  turns.set(key, done)
  try {
    return await mine
  } finally {
    if (turns.get(key) === done) turns.delete(key)
  }
}

/** What is shorter, the driver sends in the next turn of the event loop. */
const SENT_AT_ONCE = 1_024

async function sendRows<Row>(db: Db, text: string, rows: string): Promise<Row[]> {
  return (await db.$client.rows.unsafe(text, [rows.padEnd(SENT_AT_ONCE)])) as unknown as Row[]
}

async function sendByDrizzle<Row>(db: Db | Tx, text: string, rows: string): Promise<Row[]> {
  const [before = '', after = ''] = text.split('$1')
  const whole = drizzleSql.join([drizzleSql.raw(before), drizzleSql`${rows}`, drizzleSql.raw(after)])
  return (await db.execute(whole)) as unknown as Row[]
}

function lineOf(db: Db, statement: RowStatement): Line {
  const ofDb = lines.get(db) ?? new Map<RowStatement, Line>()
  lines.set(db, ofDb)
  const line = ofDb.get(statement) ?? { rows: [], keys: new Set(), underWay: 0, scheduled: false }
  ofDb.set(statement, line)
  return line
}

/** The statements under way, of all kinds. */
let underWay = 0

/**
 * Sends the collected rows at the end of this turn of the event loop, so that all that became ready in it are sent
 * together; and waits for those that become ready in the next turns, unless there are enough. If nothing is under way, it
 * does not wait for the rest of the turn: a single caller has nobody to share a statement with.
 */
function schedule(db: Db, statement: RowStatement, line: Line): void {
  if (line.scheduled || line.underWay >= MOST_UNDER_WAY || line.rows.every(({ key }) => line.keys.has(key))) return
  line.scheduled = true
  const send = () => {
    const enough = line.underWay === 0 && line.rows.length >= ENOUGH_ROWS
    // Those who have yet to go on may have rows for the same statement.
    if (next.length > 0 && !enough) return void setImmediate(send)
    line.scheduled = false
    void flush(db, statement, line)
  }
  if (underWay === 0 && next.length === 0) process.nextTick(send)
  else setImmediate(send)
}

async function flush(db: Db, statement: RowStatement, line: Line): Promise<void> {
  const batch = nextBatch(line)
  line.underWay++
  underWay++
  // What is left may go at the same time.
  schedule(db, statement, line)
  try {
    await sendBatch(db, statement, batch)
  } finally {
    for (const { key } of batch) line.keys.delete(key)
    line.underWay--
    underWay--
    schedule(db, statement, line)
  }
}

/** Those that came first, as far as they may share a statement. */
function nextBatch(line: Line): Waiting[] {
  const batch: Waiting[] = []
  let chars = 0
  const left = line.rows.filter((row) => {
    const fits = batch.length < MOST_ROWS && chars + row.json.length <= MOST_CHARS && !line.keys.has(row.key)
    if (!fits) return true
    batch.push(row)
    line.keys.add(row.key)
    chars += row.json.length
    return false
  })
  line.rows = left
  // Everyone locks in this order.
  return batch.sort((a, b) => (a.key < b.key ? -1 : 1))
}

async function sendBatch(db: Db, statement: RowStatement, batch: readonly Waiting[]): Promise<void> {
  try {
    const json = `[${batch.map((row) => row.json).join()}]`
    const rows = await sendRows<{ ord: number }>(db, statement.skipping, json)
    const found = new Map(rows.map((row) => [row.ord, row]))
    for (const [at, { resolve }] of batch.entries()) goOn(() => resolve((found.get(at + 1) ?? null) as never))
  } catch (err) {
    if (batch.length > 1 && isOfOneRow(err)) for (const { resolve } of batch) resolve(null as never)
    else for (const { reject } of batch) reject(err)
  }
}

/** For so long, work that has begun goes before what arrives: callers of a statement go on all at once. */
export function workFirst(ms: number): void {
  shared().workFirstUntil = performance.now() + ms
}

const mostPerTurn = () => (performance.now() < shared().workFirstUntil ? MOST_ROWS : MOST_PER_TURN)

/** What goes on in one of the next turns, and how much has gone on in this one. */
const next: (() => void)[] = []
let inThisTurn = 0

function goOn(caller: () => void): void {
  if (inThisTurn === 0) setImmediate(nextTurn)
  if (inThisTurn < mostPerTurn()) {
    inThisTurn++
    caller()
  } else next.push(caller)
}

function nextTurn(): void {
  const now = next.splice(0, mostPerTurn())
  inThisTurn = now.length
  if (now.length > 0) setImmediate(nextTurn)
  for (const caller of now) caller()
}

/**
 * Whether a single row may have made the statement fail: a value, a constraint, a lock, a limit, or too long a time
 * (57014). Nothing was written.
 */
function isOfOneRow(err: unknown): boolean {
  return /^(22|23|40|54|57014)/.test(sqlState(err) ?? '')
}

/**
 * The values of a row in the order of its columns. Times are sent as text, and so is the value of a column of type
 * `json`: as a part of `jsonb` it would not stay as it is written, with the order of its keys.
 */
export function arrayOf(columns: readonly Column[], row: object): unknown[] {
  const values = row as Record<string, unknown>
  return columns.map(({ name, type }) => {
    const value = values[name]
    if (value == null) return null
    if (type === 'json') return jsonOf(value)
    return value instanceof Date ? isoOf(value) : value
  })
}

/** Text columns never contain half a surrogate pair: as a parameter of its own, it would arrive as U+FFFD. */
function jsonOf(value: unknown): string {
  const json = JSON.stringify(value)
  if (!json.includes('\\ud')) return json
  return JSON.stringify(value, (_name, part: unknown) =>
    typeof part === 'string' ? Buffer.from(part).toString() : part,
  )
}

const written = { ms: Number.NaN, text: '' }

/** As `toISOString`. Most times of a statement are the same, and writing one takes as long as ten other values. */
function isoOf(time: Date): string {
  const ms = time.getTime()
  if (ms !== written.ms) {
    written.text = time.toISOString()
    written.ms = ms
  }
  return written.text
}
