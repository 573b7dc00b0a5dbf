import { setTimeout as sleep } from 'node:timers/promises'
import type { Inngest, InngestFunction } from 'inngest'
import type { EngineOptions } from '@/inngest/engine/index'
import { freshDatabase } from '../support/db'
import { createNode, type Node } from './node'

type Sql = EngineOptions['sql']

export interface World extends Node {
  sql: Sql
  /** Another process on the same database, stopped together with the others. */
  another(define: (client: Inngest) => InngestFunction.Any[], options?: Partial<EngineOptions>): Promise<Node>
  end(): Promise<void>
}

/**
 * A fresh database with one engine running on it.
 * @param wrap wraps the pool through which the engine sends its statements
 */
export async function createWorld(
  define: (client: Inngest) => InngestFunction.Any[],
  options: Partial<EngineOptions> = {},
  wrap = (sql: Sql) => sql,
): Promise<World> {
  const database = await freshDatabase({ max: 10 })
  const nodes: Node[] = []
  const another = async (...args: Parameters<World['another']>) => {
    const node = createNode(wrap(database.sql), ...args)
    nodes.push(node)
    await node.engine.start()
    return node
  }
  try {
    const node = await another(define, options)
    return {
      ...node,
      sql: database.sql,
      another,
      async end() {
        await Promise.all(nodes.map(({ engine }) => engine.stop({ graceMs: 2000 })))
        await database.close()
      },
    }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** Waits until the probe returns something other than undefined or false. */
export async function until<T>(probe: () => Promise<T> | T, limitMs = 60_000): Promise<NonNullable<Exclude<T, false>>> {
  const end = Date.now() + limitMs
  while (true) {
    const found = await probe()
    if (found !== undefined && found !== null && found !== false) return found as NonNullable<Exclude<T, false>>
    if (Date.now() > end) throw new Error(`Not within ${limitMs} ms: ${probe}`)
    await sleep(5)
  }
}

export interface RunRow {
  id: string
  function_id: string
  status: string
  output: unknown
  pending: number
}

/** The runs of a function, oldest first. */
export async function runsOf(sql: Sql, functionId: string): Promise<RunRow[]> {
  const found = await sql<(Omit<RunRow, 'output'> & { output: string | null })[]>`
    select id, function_id, status, output, pending from engine.runs where function_id = ${`app-${functionId}`} order by created_at, id`
  return found.map((row) => ({ ...row, output: row.output === null ? undefined : JSON.parse(row.output) }))
}

/** The runs of a function, once `count` of them have ended. */
export function ended(sql: Sql, functionId: string, count = 1, limitMs = 60_000): Promise<RunRow[]> {
  return until(async () => {
    const found = (await runsOf(sql, functionId)).filter(({ status }) => status !== 'running')
    return found.length >= count ? found : undefined
  }, limitMs)
}
