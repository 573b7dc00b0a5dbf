import { type RowStatement, rowsOf } from '@/db/index'
import { EVENT, type EventPlace, insertEvent } from '../outbox'
import { RUN_CHANNEL } from './announce'
import { insertPause, insertRecords, PAUSE, RECORDS } from './rows'

/** What a start writes besides the run and its walk. Starts that write the same share a statement. */
interface Shape {
  /** The first steps are known. */
  plans: boolean
  asks: boolean
  /** The run ends or pauses with its start, so every process is notified. */
  settles: boolean
  sends: EventPlace | null
}

const known = new Map<string, RowStatement>()

/** The statement that `insertRun` sends. It never waits for locked rows. */
export function insertStatement(shape: Shape): RowStatement {
  const key = Object.values(shape).join()
  const found = known.get(key)
  if (found) return found
  const text = textOf(shape)
  const statement = { skipping: text, waiting: text }
  known.set(key, statement)
  return statement
}

const columnsOf = ({ plans, asks, sends }: Shape) => `
  at timestamptz, tenant_id text, run_id text, workflow_id text, workflow_version int, workflow_name text,
  believes boolean, published_version int, business_key text, run_status text, outcome text, input jsonb, data jsonb, data_refs jsonb,
  result jsonb, error jsonb, failing jsonb, current_step_id text, context jsonb, started_by text, started_via text,
  retry_of text, edits jsonb, parent_run_id text, depth int, start_time timestamptz, end_time timestamptz,
  timeout_at timestamptz, branch text, epoch int, segment int, walk_status text, engine_run_id text, step_id text,
  visit int
  ${plans ? `, ${RECORDS}` : ''} ${asks ? `, ${PAUSE}` : ''} ${sends ? `, ${EVENT}` : ''}`

const BEGUN = 'begun join i using (ord)'

/**
 * - `workflow`: the rows whose workflow is as the caller believes
 * - `run`, `begun`: their runs, before anything that belongs to them, so that triggers see them in this order
 * - `walk`, `visits`, `asked`, `sent`: what belongs to them
 */
function textOf(shape: Shape): string {
  const { plans, asks, settles, sends } = shape
  return `
    with ${rowsOf(columnsOf(shape))},
    workflow as materialized (
      select i.ord from i cross join lateral (
        select 1 from workflows w
        where w.tenant_id = i.tenant_id and w.id = i.workflow_id and w.status <> 'archived'
          and (not i.believes or w.published_version is not distinct from i.published_version)
        limit 1) found),
    run as (
      insert into runs (tenant_id, id, workflow_id, workflow_version, workflow_name, business_key, status, outcome, input,
        data, data_refs, result, error, failing, current_step_id, context, started_by, started_via, retry_of, edits, parent_run_id,
        depth, start_time, end_time, timeout_at, updated_at)
      select tenant_id, run_id, workflow_id, workflow_version, workflow_name, business_key, run_status, outcome, input,
        data, data_refs, result, error, failing, current_step_id, context, started_by, started_via, retry_of, edits, parent_run_id,
        depth, start_time, end_time, timeout_at, at
      from workflow join i using (ord)
      returning id),
    begun as materialized (select i.ord from workflow join i using (ord) join run on run.id = i.run_id),
    walk as (
      insert into walks (tenant_id, run_id, branch, epoch, segment, status, engine_run_id, step_id, visit, updated_at)
      select tenant_id, run_id, branch, epoch, segment, walk_status, engine_run_id, step_id, visit, start_time
      from ${BEGUN})
    ${plans ? `, visits as (${insertRecords(BEGUN)})` : ''}
    ${asks ? `, asked as (${insertPause(BEGUN)})` : ''}
    ${sends ? `, sent as (${insertEvent(sends, BEGUN)})` : ''}
    select i.ord, ${sends ? 'sent.generation' : 'null::text as generation'}
      ${settles ? `, pg_notify('${RUN_CHANNEL}', i.run_id)` : ''}
    from ${BEGUN} ${sends ? 'left join sent on sent.event_id = i.event_id' : ''}`
}
