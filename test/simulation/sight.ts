import { sql } from 'drizzle-orm'
import type { ServiceContext } from '@/server/context'
import type { Message } from './engine'

/** A run that has not ended. */
export interface Open {
  id: string
  status: string
}

/** A pause that waits for a person. */
export interface Asked {
  runId: string
  pauseId: string
  stepId: string
}

/** The committed state. */
export interface Seen extends Record<string, unknown> {
  sent: Message[]
  jobs: { id: string; event: string }[]
  open: Open[]
  asked: Asked[]
  due: number | null
  /** The steps with an effect whose result is written. */
  recorded: string[]
}

/** Reads the committed state, and takes its events and jobs. */
export async function look(db: ServiceContext['db'], runIds: readonly string[]): Promise<Seen> {
  const theirs = sql`run_id = any(${sql.param(runIds)}::text[]) and answered_at is null`
  const [seen] = await db.execute<Seen>(sql`
    with sent as (delete from outbox returning id, name, data),
    jobs as (delete from engine.jobs returning id, event)
    select (select coalesce(json_agg(sent order by id), '[]') from sent) as sent,
      (select coalesce(json_agg(jobs order by id), '[]') from jobs) as jobs,
      (select coalesce(json_agg(json_build_object('id', id, 'status', status) order by id), '[]') from runs
        where id = any(${sql.param(runIds)}::text[]) and end_time is null) as open,
      (select coalesce(json_agg(json_build_object('runId', run_id, 'pauseId', id, 'stepId', step_id)
        order by run_id, id), '[]') from pauses where ${theirs} and signal is not null) as asked,
      (select extract(epoch from min(due_at))::float8 * 1000 from pauses where ${theirs}) as due,
      (select coalesce(json_agg(run_id || ':' || branch || ':' || step_id || ':' || visit), '[]') from step_records
        where run_id = any(${sql.param(runIds)}::text[]) and step_type = 'test-effect' and end_time is not null)
        as recorded`)
  if (!seen) throw new Error('nothing to be seen')
  return seen
}

/** The state of all runs, each row as a text. */
export async function allRows(db: ServiceContext['db']): Promise<string[]> {
  const tables = ['runs', 'walks', 'step_records', 'pauses']
  // An engine run that claims its own walk again leaves only a mark.
  const marks = `'{change, updated_at, written_at}'`
  const all = tables.map(
    (table) => `select '${table} ' || (to_jsonb(x) - ${marks}::text[])::text as row from ${table} x`,
  )
  const found = await db.execute<{ row: string }>(sql.raw(all.join(' union all ')))
  return found.map(({ row }) => row)
}
