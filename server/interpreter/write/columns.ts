import { getTableColumns } from 'drizzle-orm'
import { toSnakeCase } from 'drizzle-orm/casing'
import { readerOf, rowColumns } from '@/db/index'
import { runs } from '@/db/schema/runs'
import { EVENT } from '../../outbox'

type RunColumn = keyof typeof runs.$inferSelect

/** The columns of `runs` that a start draws or leaves to their defaults. `rowOf` and `newRunRow` name all others. */
const LATER = [
  'cancellation',
  'cancelRequestedAt',
  'cleanupStartedAt',
  'writtenAt',
  'change',
] as const satisfies RunColumn[]

/** The names of columns in sent rows, where they differ. */
const SENT_AS = { id: 'run_id', status: 'run_status', smallData: 'data', updatedAt: 'at' } as const

type Snake<S> = S extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : ''
type SentAs<C> = C extends keyof typeof SENT_AS ? (typeof SENT_AS)[C] : Snake<C>

/** The values of a run in a sent row. */
export type SentRun = Record<SentAs<Exclude<RunColumn, (typeof LATER)[number]>>, unknown>

const later = new Set<string>(LATER)
const sentAs = new Map<string, string>(Object.entries(SENT_AS))

/** The columns of `runs` that a start writes, each with its name in a row. */
export const STARTED = Object.entries(getTableColumns(runs))
  .filter(([key]) => !later.has(key))
  .map(([key, column]) => {
    const name = toSnakeCase(column.name)
    return { name, sent: sentAs.get(key) ?? name, type: column.getSQLType() }
  })

/** The columns of a visit that has only begun, each with its name in a row. */
export const BEGUN = {
  step_id: 'new_step text',
  visit: 'new_visit int',
  step_type: 'new_type text',
  step_name: 'new_name text',
  status: 'new_status text',
  attempt: 'new_attempt int',
  start_time: 'new_start timestamptz',
  config: 'new_config json',
  input_data: 'new_input jsonb',
  input_bytes: 'new_input_bytes int',
}
/** The columns of a visit that a plan inserts. */
export const WHOLE = {
  ...BEGUN,
  end_time: 'new_end timestamptz',
  output_data: 'new_output jsonb',
  output_bytes: 'new_output_bytes int',
  delta: 'new_delta jsonb',
  error: 'new_error text',
  error_code: 'new_error_code text',
  handled: 'new_handled boolean',
  exit: 'new_exit text',
  attempts: 'new_attempts jsonb',
}
/** Of each of several visits in one row. */
export const VISIT_COLUMNS = rowColumns(Object.values(WHOLE).join())

/** The columns that most parts read. */
export const ALWAYS = 'tenant_id, run_id, branch, at'

const WRITTEN = `
  tenant_id text, run_id text, branch text, at timestamptz,
  epoch int, from_segment int, engine_run_id text,
  data jsonb, data_refs jsonb, current_step_id text, run_status text,
  step_id text, visit int, attempt int, step_status text, ended_at timestamptz, output_data jsonb, output_bytes int,
  delta jsonb, receipt jsonb, attempts jsonb, usage jsonb, handled boolean, step_error text, step_error_code text, exit text,
  ${Object.values(BEGUN).join()}, tool_id text,
  segment int, walk_status text, claims text, from_step text, from_visit int, to_step text, to_visit int,
  outcome text, result jsonb, error jsonb, ${EVENT}, visits jsonb,
  answered_pause text, answer jsonb, answered_by text, answered_at timestamptz, answered_via text, answered_with text, key_hash text, key_role text,
  pause_id text, pause_step text, pause_visit int, pause_kind text, pause_signal json, pause_due timestamptz,
  wait_name text, wait_key text, wait_rules jsonb, child_run_id text, pause_remind timestamptz,
  own jsonb, own_refs jsonb, arrival jsonb, failing jsonb, cancellation jsonb`

const known = rowColumns(WRITTEN).places
const ofStarts = STARTED.filter(({ sent }) => !known.has(sent)).map(({ sent, type }) => `${sent} ${type}`)

/** The columns of a row written for a run; the most frequently used come first. */
export const COLUMNS = rowColumns(`${WRITTEN}, ${ofStarts.join()}, expects_version boolean, published_version int`)

/** Reads some columns of the row `i`: part of a `from`, named `x`. */
export const x = readerOf(COLUMNS)
