import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import { toSnakeCase } from 'drizzle-orm/casing'
import { stepRecords } from '@/db/schema/runs'
import type { ServiceContext, TransactionContext } from '../context'
import type { JsonObject, JsonValue } from '../definition/json'
import { AppError } from '../errors'
import type { NewRun } from '../interpreter/index'
import { insertRun } from '../interpreter/index'
import { MAIN_BRANCH } from '../run-store/names'
import type { RunRow } from './present'

/** Columns that a copied record does not share: its run, its position, and the number of its last change. */
const OWN_COLUMNS = new Set(['runId', 'seq', 'change'])

type Sources = NonNullable<NewRun['sources']>

interface Merged extends Record<string, unknown> {
  copied: JsonObject | null
  copied_from: Sources | null
  added: JsonObject | null
  added_from: Sources | null
}

/** The records of a run's main path that count in a run that continues it: those done before a position. */
function keptBefore(tx: TransactionContext, runId: string, before: SQL): SQL {
  return sql`s.tenant_id = ${tx.tenantId} and s.run_id = ${runId} and s.branch = ${MAIN_BRANCH}
    and (s.status = 'completed' or s.handled) and s.seq < ${before}`
}

/**
 * The data of a run before a position, and the edits in it that no step of the run has overwritten since. A run with
 * the same input and copies of the records so far has the same data once those edits are laid over it.
 */
export async function dataBefore(
  tx: TransactionContext,
  old: RunRow,
  before: SQL,
): Promise<{ data: JsonObject; edits: JsonObject; sources: Sources }> {
  const startTime = sql`${old.startTime.toISOString()}::timestamptz`
  // In Postgres, because a loop may have left more than fits in memory here. Copied records began before their run.
  const copied = sql`filter (where s.start_time < ${startTime})`
  const laterOnes = sql`filter (where s.start_time >= ${startTime})`
  const visit = sql`jsonb_build_object('branch', s.branch, 'stepId', s.step_id, 'visit', s.visit)`
  const [merged] = await tx.db.execute<Merged>(sql`
    select jsonb_object_agg(field.key, field.value order by s.seq) ${copied} as copied,
      jsonb_object_agg(field.key, ${visit} order by s.seq) ${copied} as copied_from,
      jsonb_object_agg(field.key, field.value order by s.seq) ${laterOnes} as added,
      jsonb_object_agg(field.key, ${visit} order by s.seq) ${laterOnes} as added_from
    from ${stepRecords} s cross join lateral jsonb_each(s.delta) field
    where ${keptBefore(tx, old.id, before)} and jsonb_typeof(s.delta) = 'object'`)
  const added = merged?.added ?? {}
  const edits = Object.fromEntries(Object.entries(old.edits ?? {}).filter(([name]) => !Object.hasOwn(added, name)))
  const given = Object.fromEntries(Object.keys(old.input).map((name) => [name, {}]))
  const sources: Sources = { ...given, ...merged?.copied_from, ...merged?.added_from }
  for (const name of Object.keys(edits)) delete sources[name]
  return { data: { ...old.input, ...merged?.copied, ...added, ...edits }, edits, sources }
}

/** The outputs of some steps of the main path before a position: those of their latest completed visits. */
export async function outputsBefore(
  tx: TransactionContext,
  runId: string,
  before: SQL,
  stepIds: readonly string[],
): Promise<JsonObject> {
  if (stepIds.length === 0) return {}
  const rows = await tx.db.execute<{ id: string; output: JsonValue }>(sql`
    select w.id, s.output_data as output
    from jsonb_array_elements_text(${JSON.stringify(stepIds)}::jsonb) w(id)
    cross join lateral (
      select s.output_data from ${stepRecords} s
      where ${keptBefore(tx, runId, before)} and s.step_id = w.id and s.status = 'completed'
      order by s.visit desc limit 1) s`)
  return Object.fromEntries(rows.map(({ id, output }) => [id, output]))
}

/** The position of the record with which the main path failed, or a position after all of them. */
export function failedAt(ctx: ServiceContext, runId: string): SQL {
  return sql`(
    select coalesce(min(f.seq), ${Number.MAX_SAFE_INTEGER}::bigint) from ${stepRecords} f
    where f.tenant_id = ${ctx.tenantId} and f.run_id = ${runId} and f.branch = ${MAIN_BRANCH}
      and f.status = 'failed' and f.handled is not true)`
}

/** The records of a run's main path. */
export function ofMainPath(ctx: ServiceContext, runId: string) {
  const { tenantId, branch } = stepRecords
  return and(eq(tenantId, ctx.tenantId), eq(stepRecords.runId, runId), eq(branch, MAIN_BRANCH))
}

type Continued = Required<
  Pick<NewRun, 'workflowVersion' | 'definition' | 'data' | 'sources' | 'edits' | 'firstStep' | 'context'>
>

/**
 * Starts a run that continues an old run from a position in it, with copies of the records before that position. On
 * another version than that of the old run, its data must fit there.
 * @throws AppError WORKFLOW_ARCHIVED
 */
export async function continueRun(
  tx: TransactionContext,
  old: RunRow,
  before: SQL,
  run: Continued,
  { builtIn = false } = {},
): Promise<string> {
  const { workflowId, input, part } = old
  const again = { workflowId, input, part, retryOf: old.id, test: old.startedVia === 'test' }
  // Not planned: its own records follow the copied ones.
  const runId = await insertRun(tx, { ...run, ...again }, { builtIn })
  if (runId === null) throw new AppError('WORKFLOW_ARCHIVED')
  await copyBefore(tx, old.id, runId, before)
  return runId
}

/** Takes the columns from the schema, so that new ones are copied without a change here. */
async function copyBefore(tx: TransactionContext, from: string, to: string, before: SQL): Promise<void> {
  const copied = Object.keys(getTableColumns(stepRecords)).filter((name) => !OWN_COLUMNS.has(name))
  const names = sql.raw(copied.map((name) => `"${toSnakeCase(name)}"`).join(', '))
  await tx.db.execute(sql`
    insert into ${stepRecords} (run_id, ${names})
    select ${to}, ${names} from ${stepRecords} s
    where ${keptBefore(tx, from, before)} order by s.seq`)
}
