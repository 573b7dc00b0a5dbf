import { and, eq, getTableColumns, inArray, type SQL, sql } from 'drizzle-orm'
import type { Db, Tx } from '@/db/index'
import { perDb } from '@/db/per-db'
import { RUN_DATA, RUN_DATA_BYTES } from '@/db/run-data'
import { runMoves } from '@/db/schema/moves'
import { pauses, pauseVotes, runs, stepRecords } from '@/db/schema/runs'
import { storedSize } from '@/db/stored-size'
import { GIVEN_KEY, requireVerifiedCaller } from '../auth/cached-caller'
import { runsInReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import type { JsonValue } from '../definition/json'
import type { RunData } from '../definition/run'
import { GIVEN_RUN, runIs } from '../run-store/conditions'
import { type SealedSecret, sealedVault } from '../vault/masker'
import type { StoredPause, StoredRun, StoredStep } from './present'

/** How many of a run's newest records its status includes, in addition to open ones. */
export const MAX_RECORDS = 5_000
/**
 * The limit for all values of a response together. Beyond it, values from a certain size on are cut: the first of these
 * sizes that suffices.
 */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024
const CUT_FROM = [64, 8, 1].map((kib) => kib * 1024)
/** Up to this size a run is read on the shared connections, beyond it on those for large reads. */
const SMALL_BYTES = 1024 * 1024
const SMALL_RECORDS = 1_000

const { input: _input, context: _context, smallData: _data, result: _result, ...plainColumns } = getTableColumns(runs)

/** Written out, because Drizzle omits the table of a column when selecting from one table. */
const records = sql`${stepRecords} s where s.tenant_id = runs.tenant_id and s.run_id = runs.id`
/** Null where a single answer decides. */
const votes = sql`case when p.signal->'needs' is not null then (
  select coalesce(json_agg(json_build_object('by', v.person, 'name', v.name, 'actionId', v.action_id,
    'actionValue', v.action_value, 'data', v.data, 'remark', v.remark, 'via', v.via, 'at', v.created_at) order by v.created_at, v.person), '[]'::json)
  from ${pauseVotes} v where v.tenant_id = p.tenant_id and v.run_id = p.run_id and v.pause_id = p.id) end`
/**
 * The condition on the answer is written so that the index of waiting pauses does not apply: while few wait it looks
 * cheaper than the primary key, but it must be read in full, with every dead entry.
 */
const openPauses = sql<StoredPause[]>`(
  select coalesce(json_agg(json_build_object('id', p.id, 'branch', p.branch, 'stepId', p.step_id, 'signal', p.signal, 'dueAt', p.due_at, 'remindAt', p.remind_at,
    'createdAt', p.created_at, 'votes', ${votes}) order by p.created_at, p.id), '[]'::json)
  from ${pauses} p
  where p.tenant_id = runs.tenant_id and p.run_id = runs.id and num_nulls(p.answered_at) = 1 and p.signal is not null)`

/** Its moves to other versions, without what its tasks asked before. */
const moves = sql<StoredRun['moves']>`(
  select json_agg(json_build_object('fromVersion', m.from_version, 'toVersion', m.to_version, 'at', m.moved_at, 'by', m.moved_by)
    order by m.n)
  from ${runMoves} m where m.tenant_id = runs.tenant_id and m.run_id = runs.id)`

const sizes = sql`${storedSize(sql`s.input_bytes`, sql`s.input_data`)} as input_size,
  ${storedSize(sql`s.output_bytes`, sql`s.output_data`)} as output_size`

/** Without the logs of scripts: a page of a run's steps must not grow by all of them. */
const attempts = sql`case when s.attempts @? '$[*].logs' then (
  select jsonb_agg(a.attempt - 'logs' order by a.n) from jsonb_array_elements(s.attempts) with ordinality a(attempt, n))
  else s.attempts end`

/** A record as the API shows it. If a size is passed, the value is cut and not read. */
export function stepJson(cut: { input: SQL; output: SQL } | null): SQL {
  const value = (column: SQL, size: SQL | undefined) =>
    size ? sql`case when ${size} is null then ${column} end` : column
  return sql`json_build_object('seq', s.seq, 'branch', s.branch, 'stepId', s.step_id, 'stepType', s.step_type, 'stepName', s.step_name,
    'status', s.status, 'startTime', s.start_time, 'endTime', s.end_time, 'error', s.error, 'errorCode', s.error_code,
    'usage', s.usage, 'visit', s.visit, 'attempt', s.attempt, 'attempts', ${attempts},
    'handled', s.handled, 'exit', s.exit, 'reminders', s.reminders,
    'inputData', ${value(sql`s.input_data`, cut?.input)}, 'outputData', ${value(sql`s.output_data`, cut?.output)},
    'cutInput', ${cut?.input ?? sql`null::int`}, 'cutOutput', ${cut?.output ?? sql`null::int`})`
}

/**
 * The size from which values are cut so that a response stays within its limit; null if none need be.
 * @param values a query of all sizes, as `size`
 */
export function cutFrom(values: SQL): SQL {
  const fits = (limit: number) =>
    sql`when coalesce(sum(size) filter (where size <= ${limit}::int), 0) <= ${MAX_ANSWER_BYTES}::int then ${limit}::int`
  return sql`(select case when coalesce(sum(size), 0) <= ${MAX_ANSWER_BYTES}::int then null
    ${sql.join(CUT_FROM.slice(0, -1).map(fits), sql` `)} else ${CUT_FROM.at(-1)}::int end from (${values}) sizes)`
}

/**
 * The run with its history, its open pauses and the vault that masks it, in one statement, so in one snapshot.
 * @returns null for an unknown run, `large` for one whose values are not read here
 */
export async function readSmallRun(
  ctx: ServiceContext,
  runId: string,
): Promise<{ stored: StoredRun; vault: SealedSecret[] } | 'large' | null> {
  const [row] = await smallRunFor(ctx, runId)
  if (!row) requireVerifiedCaller(ctx)
  if (!row) return null
  if (ctx.cachedCaller) ctx.cachedCaller.verified = true
  return row.small ? smallOf(row) : 'large'
}

function smallOf({ run, data, result, steps, open, moves, vault }: Awaited<ReturnType<typeof smallRun>>[number]) {
  const stored = {
    run: { ...run, data, result },
    steps,
    open,
    moves,
    total: steps.length,
    cutData: null,
    cutResult: null,
  }
  return { stored, vault }
}

/** The same for several runs, by id; omits large runs, missing ones and ones out of reach. */
export async function readSmallRuns(
  ctx: ServiceContext,
  runIds: readonly string[],
): Promise<Map<string, { stored: StoredRun; vault: SealedSecret[] }>> {
  const rows = await smallRun(
    ctx.db,
    and(eq(runs.tenantId, ctx.tenantId), inArray(runs.id, [...runIds]), runsInReach(ctx)),
  )
  return new Map(rows.flatMap((row) => (row.small ? [[row.run.id, smallOf(row)] as const] : [])))
}

/** The stored size of a run, which for texts is less than its size in a response; null for a run with many records. */
export const STORED_BYTES = sql<number | null>`(
  select case when count(*) <= ${SMALL_RECORDS} then ${bytesOf(['result'])} + ${sql.raw(RUN_DATA_BYTES)} + coalesce(sum(w.bytes), 0) end
  from (
    select coalesce(s.input_bytes, pg_column_size(s.input_data), 0)
      + coalesce(s.output_bytes, pg_column_size(s.output_data), 0) as bytes
    from ${records} limit ${SMALL_RECORDS + 1}) w)::float8`

function smallRunFor(ctx: ServiceContext, runId: string): Promise<Awaited<ReturnType<typeof smallRun>>> {
  const { db, tenantId, cachedCaller } = ctx
  if (ctx.reach || !('$client' in db)) return smallRun(db, runIs(ctx, runId))
  if (cachedCaller?.verified !== false) return preparedSmallRun(db).execute({ tenantId, runId })
  const { keyHash, role } = cachedCaller
  return preparedKnownRun(db).execute({ tenantId, runId, keyHash, role, at: ctx.now().toISOString() })
}

/** Callers request it again and again, so its text is built once. */
const preparedSmallRun = perDb((db) => smallRun(db, GIVEN_RUN).prepare('small_run'))

/** The same for a caller whose key was not read before: no row if the key is no longer valid. */
const preparedKnownRun = perDb((db) => smallRun(db, sql`${GIVEN_RUN} and exists ${GIVEN_KEY}`).prepare('known_run'))

function smallRun(db: Db | Tx, where: SQL | undefined) {
  const weight = db
    .select({
      small:
        sql<boolean>`count(*) <= ${SMALL_RECORDS} and ${SMALL_BYTES} >= ${bytesOf(['result'])} + ${sql.raw(RUN_DATA_BYTES)} +
        coalesce(sum(coalesce(s.input_bytes, pg_column_size(s.input_data), 0)
          + coalesce(s.output_bytes, pg_column_size(s.output_data), 0)), 0)`.as('small'),
    })
    .from(records)
    .as('weight')
  const ifSmall = <T>(value: SQL) => sql<T>`case when ${weight.small} then ${value} end`
  return db
    .select({
      run: plainColumns,
      small: weight.small,
      data: ifSmall<RunData | null>(RUN_DATA),
      result: ifSmall<JsonValue>(sql`${runs.result}`),
      steps: ifSmall<StoredStep[]>(
        sql`(select coalesce(json_agg(${stepJson(null)} order by s.seq), '[]'::json) from ${records})`,
      ),
      open: openPauses,
      moves,
      vault: sealedVault(sql`runs.tenant_id`),
    })
    .from(runs)
    .crossJoinLateral(weight)
    .where(where)
}

/** The same for a run of any size, within the limits of a response. Cut values are not read. */
export async function readLargeRun(ctx: ServiceContext, runId: string): Promise<StoredRun | null> {
  const bounded = ctx.db
    .select({
      total: sql<number>`(select count(*)::int from ${records})`.as('total'),
      data: sql<number>`octet_length(${RUN_DATA}::text)`.as('data_bytes'),
      result: sql<number>`coalesce(octet_length(runs.result::text), 0)`.as('result_bytes'),
    })
    .from(sql`(select 1) one`)
    .as('bounded')
  // The open records and the newest ones. Values not looked at pass through as TOAST references.
  const chosen = sql`(
    select * from (select s.*, row_number() over (order by s.seq desc) as age, ${sizes} from ${records}) all_records
    where age <= ${MAX_RECORDS} or end_time is null)`
  const limit = ctx.db
    .select({
      from: cutFrom(sql`
        select unnest(array[s.input_size, s.output_size]) as size from ${chosen} s
        union all select ${bounded.data} union all select ${bounded.result}`).as('cut_from'),
    })
    .from(sql`(select 1) one`)
    .as('bound')
  const cut = (size: SQL) => sql`case when ${size} > ${limit.from} then ${size} end`
  const step = stepJson({ input: cut(sql`s.input_size`), output: cut(sql`s.output_size`) })
  const [row] = await ctx.db
    .select({
      run: plainColumns,
      total: bounded.total,
      cutData: sql<number | null>`${cut(sql`${bounded.data}`)}`,
      cutResult: sql<number | null>`${cut(sql`${bounded.result}`)}`,
      data: sql<RunData | null>`case when ${cut(sql`${bounded.data}`)} is null then ${RUN_DATA} end`,
      result: sql<JsonValue>`case when ${cut(sql`${bounded.result}`)} is null then ${runs.result} end`,
      steps: sql<StoredStep[]>`(select coalesce(json_agg(${step} order by s.seq), '[]'::json) from ${chosen} s)`,
      open: openPauses,
      moves,
    })
    .from(runs)
    .crossJoinLateral(bounded)
    .crossJoinLateral(limit)
    .where(runIs(ctx, runId))
  if (!row) return null
  const { run, data, result, ...rest } = row
  return { run: { ...run, data, result }, ...rest }
}

/** A run's records in order, after a given one, within the limits of a response; null for an unknown run. */
export async function readRecords(
  ctx: ServiceContext,
  runId: string,
  page: { after: number; limit: number },
): Promise<{ total: number; steps: StoredStep[] } | null> {
  const chosen = sql`(
    select s.*, ${sizes} from ${records} and s.seq > ${page.after} order by s.seq limit ${page.limit})`
  const limit = ctx.db
    .select({
      from: cutFrom(sql`select unnest(array[s.input_size, s.output_size]) as size from ${chosen} s`).as('cut_from'),
    })
    .from(sql`(select 1) one`)
    .as('bound')
  const cut = (size: SQL) => sql`case when ${size} > ${limit.from} then ${size} end`
  const step = stepJson({ input: cut(sql`s.input_size`), output: cut(sql`s.output_size`) })
  const [row] = await ctx.db
    .select({
      total: sql<number>`(select count(*)::int from ${records})`,
      steps: sql<StoredStep[]>`(select coalesce(json_agg(${step} order by s.seq), '[]'::json) from ${chosen} s)`,
    })
    .from(runs)
    .crossJoinLateral(limit)
    .where(runIs(ctx, runId))
  return row ?? null
}

/** Whether the given columns of a run are larger than those of a small run. Reads none of them. */
export async function isLarge(ctx: ServiceContext, runId: string): Promise<boolean> {
  const [row] = await ctx.db
    .select({
      large: sql<boolean>`${bytesOf(['input', 'result'])} + ${sql.raw(RUN_DATA_BYTES)} > ${SMALL_BYTES / 8}
        or (select count(*) > ${SMALL_RECORDS}
          or coalesce(max(greatest(s.input_bytes, s.output_bytes)), 0) > ${SMALL_BYTES} from ${records})`,
    })
    .from(runs)
    .where(runIs(ctx, runId))
  return row?.large ?? false
}

/** Their size as stored, usually compressed, which is known without reading them. */
function bytesOf(columns: string[]): SQL {
  return sql.raw(columns.map((name) => `coalesce(pg_column_size(runs.${name}), 0)`).join(' + '))
}
