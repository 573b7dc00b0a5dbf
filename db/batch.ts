import { sql as drizzleSql } from 'drizzle-orm'
import { type BatchStatement, encodeRow, jsonOf, MAX_ROWS } from './batch-statement'
import { sqlState } from './deadline'
import { settleCaller, settling } from './settle'
import { shared } from './shared'
import type { Db, Tx } from './types'

/** Maximum length of a shared statement's rows. */
const MAX_CHARS = 256 * 1024
/** How many statements of one kind run concurrently. Meanwhile, further rows are collected. */
const MAX_UNDER_WAY = 2
/** Send at once with this many rows and none in flight, so that Postgres and this process work concurrently. */
const ENOUGH_ROWS = 8

interface QueuedRow {
  /** Unique among the rows of a statement. */
  key: string
  json: string
  resolve: (row: never) => void
  reject: (reason: unknown) => void
}

/** The rows waiting to be sent, by pool and statement. */
const queues = new WeakMap<Db, Map<BatchStatement, BatchQueue>>()

/**
 * Sends a row in a statement shared with rows of concurrent callers: they share a round trip and a commit, and each
 * caller gets its own result. A row that is locked, or for which the statement returns nothing, is sent again on its
 * own. If a row makes the statement fail, each is sent on its own, so no row fails because of another.
 * @param key rows with the same key never share a statement
 * @returns the statement's result for the row; null if it returned none
 */
export async function sendBatched<Row>(
  db: Db | Tx,
  statement: BatchStatement,
  key: string,
  row: object,
): Promise<Row | null> {
  const json = jsonOf(encodeRow(statement.columns, row))
  const isAlone = !('$client' in db) || json.length > MAX_CHARS / 4 || shared().deadline.getStore() !== undefined
  if (isAlone) return sendSingly(db, statement, key, json)
  const found = await new Promise<Row | null>((resolve, reject) =>
    queueOf(db, statement).add({ key, json, resolve, reject }),
  )
  // Another transaction had locked one of its rows, or its fence rejected it. Only a statement that waits shows which.
  return found ?? sendSingly(db, statement, key, json)
}

/** The last statement sent on its own, by key. */
const lastByKey = new Map<string, Promise<unknown>>()

/** May wait long for a lock, so it avoids the few shared connections and uses at most one connection per key. */
async function sendSingly<Row>(
  db: Db | Tx,
  { waitForLock }: BatchStatement,
  key: string,
  json: string,
): Promise<Row | null> {
  const send = async () => (await sendByDrizzle<Row>(db, waitForLock, `[${json}]`))[0] ?? null
  // A transaction already has its connection, and may have locked rows that the others wait for.
  if (!('$client' in db)) return send()
  const before = lastByKey.get(key)
  const mine = before ? before.then(send, send) : send()
  const done = mine.then(
    () => {},
    () => {},
  )
  lastByKey.set(key, done)
  try {
    return await mine
  } finally {
    if (lastByKey.get(key) === done) lastByKey.delete(key)
  }
}

/** The driver delays shorter statements to the next turn of the event loop. */
const SENT_AT_ONCE = 1_024

async function sendRows<Row>(db: Db, text: string, rows: string): Promise<Row[]> {
  return (await db.$client.rows.unsafe(text, [rows.padEnd(SENT_AT_ONCE)])) as unknown as Row[]
}

async function sendByDrizzle<Row>(db: Db | Tx, text: string, rows: string): Promise<Row[]> {
  const [before = '', after = ''] = text.split('$1')
  const whole = drizzleSql.join([drizzleSql.raw(before), drizzleSql`${rows}`, drizzleSql.raw(after)])
  return (await db.execute(whole)) as unknown as Row[]
}

function queueOf(db: Db, statement: BatchStatement): BatchQueue {
  const ofDb = queues.get(db) ?? new Map<BatchStatement, BatchQueue>()
  queues.set(db, ofDb)
  const queue = ofDb.get(statement) ?? new BatchQueue(db, statement)
  ofDb.set(statement, queue)
  return queue
}

/** The number of statements in flight, of all kinds. */
let allUnderWay = 0

class BatchQueue {
  private rows: QueuedRow[] = []
  /** The keys of the rows in flight: another row with the same key would find its rows locked. */
  private readonly keys = new Set<string>()
  private underWay = 0
  private scheduled = false

  constructor(
    private readonly db: Db,
    private readonly statement: BatchStatement,
  ) {}

  add(row: QueuedRow): void {
    this.rows.push(row)
    this.schedule()
  }

  /**
   * Sends the collected rows at the end of this turn of the event loop, so that all rows that become ready in it are
   * sent together. Waits for rows of the next turns too, unless there are enough. If nothing is in flight, it sends
   * before the turn ends: a single caller has nobody to share a statement with.
   */
  private schedule(): void {
    if (this.scheduled || this.underWay >= MAX_UNDER_WAY || this.rows.every(({ key }) => this.keys.has(key))) return
    this.scheduled = true
    const send = () => {
      const enough = this.underWay === 0 && this.rows.length >= ENOUGH_ROWS
      // Callers that have not continued yet may have rows for the same statement.
      if (settling() && !enough) return void setImmediate(send)
      this.scheduled = false
      void this.flush()
    }
    if (allUnderWay === 0 && !settling()) process.nextTick(send)
    else setImmediate(send)
  }

  private async flush(): Promise<void> {
    const batch = this.nextBatch()
    this.underWay++
    allUnderWay++
    // The remaining rows may be sent concurrently.
    this.schedule()
    try {
      await sendBatch(this.db, this.statement, batch)
    } finally {
      for (const { key } of batch) this.keys.delete(key)
      this.underWay--
      allUnderWay--
      this.schedule()
    }
  }

  /** The oldest rows that may share a statement. */
  private nextBatch(): QueuedRow[] {
    const batch: QueuedRow[] = []
    let chars = 0
    this.rows = this.rows.filter((row) => {
      const fits = batch.length < MAX_ROWS && chars + row.json.length <= MAX_CHARS && !this.keys.has(row.key)
      if (!fits) return true
      batch.push(row)
      this.keys.add(row.key)
      chars += row.json.length
      return false
    })
    // All statements lock in this order.
    return batch.sort((a, b) => (a.key < b.key ? -1 : 1))
  }
}

async function sendBatch(db: Db, statement: BatchStatement, batch: readonly QueuedRow[]): Promise<void> {
  try {
    const json = `[${batch.map((row) => row.json).join()}]`
    const rows = await sendRows<{ ord: number }>(db, statement.skipLocked, json)
    const found = new Map(rows.map((row) => [row.ord, row]))
    for (const [at, { resolve }] of batch.entries()) settleCaller(() => resolve((found.get(at + 1) ?? null) as never))
  } catch (err) {
    if (batch.length > 1 && isOfOneRow(err)) for (const { resolve } of batch) resolve(null as never)
    else for (const { reject } of batch) reject(err)
  }
}

/**
 * Whether a single row may have made the statement fail: a value, a constraint, a lock, a limit, or too long a time
 * (57014). Nothing was written.
 */
function isOfOneRow(err: unknown): boolean {
  return /^(22|23|40|54|57014)/.test(sqlState(err) ?? '')
}
