import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sqlState } from '@/db/deadline'
import type { EmbeddedPostgres } from '@/db/embedded'
import { shared } from '@/db/shared'
import type { Sql } from '@/db/types'
import { openDriver } from '@/db/url'
import { median } from '../stats'
import { explain, type Plan, readRoots, recorded, type Sent } from './plans'
import { type Sample, takeSample } from './sample'
import { forget, startServer } from './server'
import { contextOf, VERBS, type Verb } from './verbs'

export interface Measured {
  room: Verb['room']
  what: string
  tenantId: string
  rank: number
  runs: number
  /** Milliseconds until the product had its answer, the median of several calls. Null if Postgres gave up. */
  warm: number | null
  /** The same of the first call after a restart. */
  cold: number | null
  /** The slowest of its statements first. */
  plans: Plan[]
}

/** Longer than the product waits, so that a slow query has a figure too. */
const LIMIT_MS = 60_000
const DUPLICATE_KEY = '23505'
const CALLS = 5
/** Maximum total time of a query's calls. */
const ENOUGH_MS = 10_000

export interface Where {
  folder: string
  server: EmbeddedPostgres
}

interface Connection {
  sql: Sql
  url: string
}

interface Options {
  cold: boolean
  plans: string | undefined
}

type Note = (measured: Measured) => void

/** Measures everything for the workspaces of these ranks. */
export async function measureVerbs(
  where: Where,
  ranks: readonly number[],
  options: Options,
  note: Note,
): Promise<void> {
  for (const rank of ranks) {
    const sample = await connected(where, ({ sql }) => takeSample(sql, rank))
    for (const verb of VERBS) {
      if (verb.all && rank !== ranks[0]) continue
      // Only for the largest: each takes a restart.
      const cold = options.cold && !verb.once && rank === ranks[0]
      if (cold) await restart(where)
      note(await connected(where, (connection) => measureVerb(connection, { verb, sample, rank, ...options, cold })))
    }
  }
}

/** The same for one workspace over one connection. */
export async function measureRank(connection: Connection, rank: number, note: Note): Promise<void> {
  const sample = await takeSample(connection.sql, rank)
  for (const verb of VERBS) note(await measureVerb(connection, { verb, sample, rank, cold: false, plans: undefined }))
}

async function connected<T>({ server }: Where, work: (connection: Connection) => Promise<T>): Promise<T> {
  const sql = openDriver(server.url, { max: 4, connection: { statement_timeout: LIMIT_MS } })
  try {
    return await work({ sql, url: server.url })
  } finally {
    await sql.end({ timeout: 5 })
  }
}

async function restart(where: Where): Promise<void> {
  await where.server.stop()
  await forget(where.folder)
  where.server = await startServer(where.folder)
}

async function measureVerb(
  { sql, url }: Connection,
  { verb, sample, rank, ...options }: { verb: Verb; sample: Sample; rank: number } & Options,
): Promise<Measured> {
  const { db, sent } = recorded(sql)
  // Statements over the product's connections for large reads are recorded as well.
  process.env.DATABASE_URL = url
  shared().pools.set(`${url}#reads`, { sql, db, listen: unused, close: async () => {} })
  const ctx = contextOf(db, sample)
  const once = async () => {
    const begun = performance.now()
    await verb.call(ctx, sample)
    return performance.now() - begun
  }
  const { room, what } = verb
  const named = { room, what, tenantId: sample.tenantId, rank, runs: sample.runs }
  try {
    await sql`select 1`
    const first = await once()
    const statements = distinct(sent)
    const times = verb.once ? [first] : []
    const calls = verb.once ? 1 : CALLS
    for (const begun = performance.now(); times.length < calls && performance.now() - begun < ENOUGH_MS; )
      times.push(await once())
    const roots = await readRoots(sql)
    const plans: Plan[] = []
    for (const statement of statements) {
      const plan = await explain(sql, statement, roots).catch(unlessThere)
      if (plan) plans.push(plan)
    }
    plans.sort((a, b) => b.executionMs - a.executionMs)
    if (options.plans) writePlans(options.plans, verb, rank, plans)
    return { ...named, warm: median(times), cold: options.cold ? first : null, plans }
  } catch (error) {
    if (!/statement timeout/i.test(`${error} ${(error as Error).cause}`)) throw error
    return { ...named, warm: null, cold: null, plans: [] }
  } finally {
    shared().pools.delete(`${url}#reads`)
  }
}

/** A row just inserted cannot be inserted a second time, so the statement gets no plan. */
function unlessThere(error: unknown): null {
  if (sqlState(error) === DUPLICATE_KEY) return null
  throw error
}

function unused(): never {
  throw new Error('nothing listens here')
}

/** A statement may be sent many times, as by a sweep. */
function distinct(sent: readonly Sent[]): Sent[] {
  const queries = sent.filter(({ text }) => !/^\s*(begin|commit|set)\b/i.test(text))
  return [...new Map(queries.map((one) => [one.text, one])).values()]
}

function writePlans(folder: string, { room, what }: Verb, rank: number, plans: readonly Plan[]): void {
  mkdirSync(folder, { recursive: true })
  const name = `${room} ${what} ${rank}`.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  const texts = plans.map(({ statement, text }) => `${statement}\n\n${text}\n`)
  writeFileSync(join(folder, `${name}.txt`), texts.join(`\n${'-'.repeat(80)}\n\n`))
}
