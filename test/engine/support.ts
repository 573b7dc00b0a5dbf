import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Inngest, InngestCommHandler, type InngestFunction } from 'inngest'
import {
  createEngine,
  type Engine,
  type EngineOptions,
  type HandlerAnswer,
  type HandlerCall,
} from '@/inngest/engine/index'
import { freshDatabase } from '../support/db'

type Sql = EngineOptions['sql']

export interface LogLine {
  level: 'debug' | 'info' | 'warn' | 'error'
  msg: string
}

export interface Node {
  engine: Engine
  client: Inngest
  /** Every call the engine made and its answer, in order. */
  calls: { call: HandlerCall; answer?: HandlerAnswer }[]
  lines: LogLine[]
  send(name: string, data?: Record<string, unknown>, extra?: Record<string, unknown>): Promise<{ ids: string[] }>
}

/** One process's half: an SDK client with its functions and an engine around them, on the given database. */
export function createNode(
  sql: Sql,
  define: (client: Inngest) => InngestFunction.Any[],
  options: Partial<EngineOptions> = {},
): Node {
  const lines: LogLine[] = []
  const record = (level: LogLine['level']) => (_: object, msg: string) => void lines.push({ level, msg })
  let engine: Engine | undefined
  const client = new Inngest({
    id: 'app',
    isDev: true,
    baseUrl: 'http://embedded.invalid',
    aiMetadata: false,
    logger: silent,
    internalLogger: silent,
    fetch: (...args: Parameters<typeof fetch>) => (engine ? engine.fetch(...args) : Promise.reject(new Error('early'))),
  })
  const handler = handlerOf(client, define(client))
  const calls: Node['calls'] = []
  engine = createEngine({
    sql,
    handler: async (call) => {
      const entry: Node['calls'][number] = { call }
      calls.push(entry)
      entry.answer = await handler(call)
      return entry.answer
    },
    bootId: randomUUID(),
    hostId: 'host',
    log: { debug: record('debug'), info: record('info'), warn: record('warn'), error: record('error') },
    retryDelayMs: () => 20,
    ...options,
  })
  const send: Node['send'] = (name, data = {}, extra = {}) => client.send({ name, data, ...extra })
  return { engine, client, calls, lines, send }
}

const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** The SDK's own handler, in process. */
export function handlerOf(
  client: Inngest,
  functions: InngestFunction.Any[],
): (call: HandlerCall) => Promise<HandlerAnswer> {
  return new InngestCommHandler({
    frameworkName: 'embedded',
    client,
    functions,
    skipSignatureValidation: true,
    handler: (call: HandlerCall) => ({
      body: () => call.body,
      headers: (key: string) => call.headers[key.toLowerCase()] ?? null,
      method: () => call.method,
      url: () => new URL(call.url),
      transformResponse: (answer: HandlerAnswer) => answer,
    }),
  }).createHandler()
}

export interface World extends Node {
  sql: Sql
  /** Another process on the same database; it is stopped with the rest. */
  another(define: (client: Inngest) => InngestFunction.Any[], options?: Partial<EngineOptions>): Promise<Node>
  end(): Promise<void>
}

/** A fresh database with one engine running on it. */
export async function createWorld(
  define: (client: Inngest) => InngestFunction.Any[],
  options: Partial<EngineOptions> = {},
): Promise<World> {
  const database = await freshDatabase({ max: 10 })
  const nodes: Node[] = []
  const another = async (...args: Parameters<World['another']>) => {
    const node = createNode(database.sql, ...args)
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
        await database.drop()
      },
    }
  } catch (error) {
    await database.drop()
    throw error
  }
}

/** Waits until the probe gives something other than undefined or false. */
export async function until<T>(probe: () => Promise<T> | T, limitMs = 10_000): Promise<NonNullable<Exclude<T, false>>> {
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

/** The runs of a function, once so many have ended. */
export function ended(sql: Sql, functionId: string, count = 1, limitMs = 10_000): Promise<RunRow[]> {
  return until(async () => {
    const found = (await runsOf(sql, functionId)).filter(({ status }) => status !== 'running')
    return found.length >= count ? found : undefined
  }, limitMs)
}
