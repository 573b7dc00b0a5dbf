import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Db, Tx } from '@/db/index'
import { perDb } from '@/db/per-db'
import { tenants } from '@/db/schema/tenants'
import { coalesceReads } from '@/lib/coalesce-reads'
import type { ServiceContext } from '../context'
import type { AgentLimits } from '../definition/agent'
import { AppError } from '../errors'
import { isId } from '../ids'
import type { Named, Noun, Row, VersionRow } from './noun'
import { noVersion, ownRow, ownVersion, rowIs, type Tables } from './rows'
import { versionNumber } from './versions'

/**
 * The row and one version of it: a number, `latest` or `published`. Uses one statement, so that the two belong together.
 * With an agent come the limits of all agents of its workspace.
 * @throws AppError the noun's `notFound`
 */
export async function findRowAt<R extends Row, V extends VersionRow>(
  ctx: ServiceContext,
  noun: Tables<R, V>,
  id: string,
  wanted: string | number,
): Promise<{ row: R; version: V; workspaceLimits: AgentLimits | null }> {
  const named = wanted === 'latest' || wanted === 'published'
  return read(ctx, noun, id, { wanted: named ? wanted : 'number', number: versionNumber(wanted) })
}

/**
 * The row and the content of the latest version, or of the one that a start executes by default.
 * @throws AppError the noun's `notFound`
 */
export async function findWhole<R extends Row, V extends VersionRow, C extends Named>(
  ctx: ServiceContext,
  noun: Noun<R, V, C, unknown>,
  id: string,
  wanted: 'latest' | 'started' = 'latest',
): Promise<{ row: R; content: C; workspaceLimits: AgentLimits | null }> {
  const { row, version, workspaceLimits } = await read(ctx, noun, id, { wanted, number: null })
  return { row, content: noun.contentOf(version), workspaceLimits }
}

interface Wanted {
  wanted: 'latest' | 'published' | 'started' | 'number'
  /** The version to find if `wanted` is a number. */
  number: number | null
}

async function read<R extends Row, V extends VersionRow>(
  ctx: ServiceContext,
  noun: Tables<R, V>,
  id: string,
  version: Wanted,
): Promise<{ row: R; version: V; workspaceLimits: AgentLimits | null }> {
  if (!isId(id)) throw new AppError(noun.notFound)
  const { db, tenantId } = ctx
  const [found] = await (ctx.reach || !('$client' in db)
    ? rowAt(db, noun, rowIs(ctx, noun, id), version)
    : coalesceReads(reads(db), [noun.word, tenantId, id, version.wanted, version.number].join('/'), () =>
        preparedRowAt(db, noun).execute({ tenantId, id, ...version }),
      ))
  if (!found) throw new AppError(noun.notFound)
  if (!found.version) throw noVersion(noun)
  return {
    row: ownRow(noun, found.row),
    version: ownVersion(noun, found.version),
    workspaceLimits: found.workspaceLimits,
  }
}

/** Concurrent runs often call the same tool. */
const reads = perDb(() => new Map<string, ReturnType<ReturnType<typeof preparedRowAt>['execute']>>())

const prepared = perDb(() => new Map<string, ReturnType<typeof prepareRowAt>>())

/** Every call of a tool or an agent begins with this read, so its text is built once. */
function preparedRowAt(db: Db, noun: Tables<Row>) {
  const query = prepared(db).get(noun.word) ?? prepareRowAt(db, noun)
  prepared(db).set(noun.word, query)
  return query
}

function prepareRowAt(db: Db, noun: Tables<Row>) {
  const { table, word } = noun
  const where = and(eq(table.tenantId, sql.placeholder('tenantId')), eq(table.id, sql.placeholder('id')))
  const version = { wanted: sql.placeholder('wanted'), number: sql.placeholder('number') }
  return rowAt(db, noun, where, version).prepare(`${word}_at`)
}

function rowAt(
  db: Db | Tx,
  { table, versions, ownerId, word }: Tables<Row>,
  where: SQL | undefined,
  { wanted, number }: { wanted: unknown; number: unknown },
) {
  const version = sql`case ${wanted}::text when 'latest' then ${table.version}
    when 'published' then ${table.publishedVersion}
    when 'started' then coalesce(${table.publishedVersion}, ${table.version}) else ${number}::integer end`
  // Each call of an agent needs them, so they ride with its read.
  const limits = sql`(select t.agent_limits from ${tenants} t where t.id = ${table.tenantId})`
  const workspaceLimits = sql<AgentLimits | null>`${word === 'agent' ? limits : sql`null`}`
  return db
    .select({ row: table, version: versions, workspaceLimits })
    .from(table)
    .leftJoin(
      versions,
      and(eq(versions.tenantId, table.tenantId), eq(ownerId, table.id), eq(versions.version, version)),
    )
    .where(where)
}
