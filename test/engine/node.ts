import { randomUUID } from 'node:crypto'
import { Inngest, InngestCommHandler, type InngestFunction } from 'inngest'
import {
  createEngine,
  type Engine,
  type EngineOptions,
  type HandlerAnswer,
  type HandlerCall,
  type NativeHandler,
} from '@/inngest/engine/index'

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

/**
 * For an engine that must find work without its regular poll: that comes an hour later, so no time-out has to
 * distinguish the two.
 */
export const NEVER_LOOKS = { leaseMs: 3 * 3_600_000, longestPauseMs: 3_600_000 }

/**
 * One process's part: an SDK client with its functions, and an engine for them on the given database. With `handlers`,
 * even an empty map, the engine gets the functions' own handlers too.
 */
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
  const handlers = new Map<string, NativeHandler>()
  const handler = handlerOf(client, define(options.handlers ? recording(client, handlers) : client))
  const calls: Node['calls'] = []
  engine = createEngine({
    sql,
    listen: (channel, heard) => listenOn(sql, channel, heard),
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
    ...(options.handlers ? { handlers } : {}),
  })
  const send: Node['send'] = (name, data = {}, extra = {}) => client.send({ name, data, ...extra })
  return { engine, client, calls, lines, send }
}

/**
 * The driver's own way, for pools that do not bring one.
 * @param begun called whenever it begins to listen: it may have missed notifications before
 */
export function listenOn(sql: Sql, channel: string, heard: () => void, begun?: () => void): { close(): void } {
  const listening = sql.listen(channel, heard, begun)
  const close = () => listening.then(({ unlisten }) => unlisten()).catch(() => {})
  listening.catch(() => {})
  return { close: () => void close() }
}

/** A client that also stores its handlers, by the id under which the engine knows their functions. */
function recording(client: Inngest, handlers: Map<string, NativeHandler>): Inngest {
  const createFunction = (config: { id: string }, handler: NativeHandler) => {
    handlers.set(`app-${config.id}`, handler)
    return client.createFunction(config as never, handler as never)
  }
  return Object.assign(Object.create(client), { createFunction }) as Inngest
}

const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** The SDK's own handler, in process. */
export function handlerOf(
  client: Inngest,
  functions: InngestFunction.Any[],
  skipSignatureValidation = true,
): (call: HandlerCall) => Promise<HandlerAnswer> {
  return new InngestCommHandler({
    frameworkName: 'embedded',
    client,
    functions,
    skipSignatureValidation,
    handler: (call: HandlerCall) => ({
      body: () => call.body,
      headers: (key: string) => call.headers[key.toLowerCase()] ?? null,
      method: () => call.method,
      url: () => new URL(call.url),
      transformResponse: (answer: HandlerAnswer) => answer,
    }),
  }).createHandler()
}
