import { drizzle } from 'drizzle-orm/postgres-js'
import type { Db, Sql } from '@/db/types'

/** A statement as the product sent it. */
export interface Sent {
  text: string
  params: unknown[]
}

/** A database for the product's verbs that records their statements. */
export function recorded(sql: Sql): { db: Db; sent: Sent[] } {
  const sent: Sent[] = []
  const noting = (driver: Sql): Sql =>
    new Proxy(driver, {
      get(target, name) {
        if (name === 'unsafe')
          return (text: string, params: unknown[] = [], options?: object) => {
            sent.push({ text, params })
            return target.unsafe(text, params as never[], options)
          }
        if (name === 'begin') return (work: (tx: Sql) => unknown) => target.begin((tx) => work(noting(tx as never)))
        return Reflect.get(target, name)
      },
    })
  const { unsafe, begin } = noting(sql)
  // As in db/index.ts: Drizzle has its own parsers.
  const client = { options: { parsers: {}, serializers: {} }, unsafe, begin }
  return { db: drizzle(client as never, { schema: {}, casing: 'snake_case' }) as unknown as Db, sent }
}

interface Node {
  'Node Type': string
  'Index Name'?: string
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Heap Fetches'?: number
  'Shared Hit Blocks'?: number
  'Shared Read Blocks'?: number
  Plans?: Node[]
}

export interface Plan {
  statement: string
  text: string
  planningMs: number
  executionMs: number
  /** Pages of 8 KiB read, from Postgres's memory and from elsewhere. */
  hit: number
  read: number
  scans: Scan[]
  /** The tables and partitions that were read. */
  tables: string[]
}

/** How one table was read, with all its partitions. */
export interface Scan {
  what: string
  /** How many partitions were read. */
  partitions: number
  rows: number
  /** Rows that were read and discarded. */
  removed: number
}

/** The execution of a statement by Postgres. It runs once more, and its writes are rolled back. */
export async function explain(sql: Sql, { text, params }: Sent, roots: Roots): Promise<Plan> {
  const explained = async (format: string) => {
    let rows: Record<string, unknown>[] = []
    await sql
      .begin(async (tx) => {
        rows = await tx.unsafe(`explain (analyze, buffers, format ${format}) ${text}`, params as never[])
        throw new Undone()
      })
      .catch((error: unknown) => {
        if (!(error instanceof Undone)) throw error
      })
    return rows.map((row) => row['QUERY PLAN'])
  }
  const [found] = (await explained('json')) as [Found[]]
  const [root] = found
  if (!root) throw new Error('no plan')
  return {
    statement: text,
    text: (await explained('text')).join('\n'),
    planningMs: root['Planning Time'],
    executionMs: root['Execution Time'],
    hit: root.Plan['Shared Hit Blocks'] ?? 0,
    read: root.Plan['Shared Read Blocks'] ?? 0,
    scans: scansOf(root.Plan, roots),
    tables: tablesOf(root.Plan),
  }
}

interface Found {
  Plan: Node
  'Planning Time': number
  'Execution Time': number
}

class Undone extends Error {}

/** The parents of partitions and their indexes, by name. */
export type Roots = ReadonlyMap<string, string>

export async function readRoots(sql: Sql): Promise<Roots> {
  const rows = await sql<{ name: string; root: string }[]>`
    select relname as name, pg_partition_root(oid)::regclass::text as root from pg_class where relispartition`
  return new Map(rows.map(({ name, root }) => [name, root]))
}

function scansOf(root: Node, roots: Roots): Scan[] {
  const scans = new Map<string, Scan>()
  for (const node of nodesOf(root)) {
    const { 'Actual Loops': loops, 'Index Name': index, 'Relation Name': table } = node
    if (loops === 0 || !/Scan$/.test(node['Node Type']) || (index ?? table) === undefined) continue
    // Its bitmap has been counted.
    if (node['Node Type'] === 'Bitmap Heap Scan') continue
    const name = index ?? table ?? ''
    const what = `${node['Node Type']} ${roots.get(name) ?? name}`
    const scan = scans.get(what) ?? { what, partitions: 0, rows: 0, removed: 0 }
    scan.partitions += 1
    scan.rows += Math.round(node['Actual Rows'] * loops)
    scan.removed += Math.round((node['Rows Removed by Filter'] ?? 0) * loops)
    scans.set(what, scan)
  }
  return [...scans.values()]
}

function tablesOf(root: Node): string[] {
  const read = [...nodesOf(root)].filter((node) => node['Actual Loops'] > 0)
  return [...new Set(read.flatMap((node) => node['Relation Name'] ?? []))]
}

function* nodesOf(node: Node): Generator<Node> {
  yield node
  for (const inner of node.Plans ?? []) yield* nodesOf(inner)
}
