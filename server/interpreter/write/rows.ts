import { arrayOf, columnsIn, fieldsOf, type RowStatement } from '@/db/index'
import { goodKey } from '../../auth/presumed'
import type { PresumedCaller, ServiceContext } from '../../context'
import { EVENT, type EventPlace, insertEvent, type Outgoing } from '../../outbox'
import type { Asked } from '../../steps/define-step'
import { RUN_CHANNEL } from '../notice/announce'
import type { NewPause, NewRecord, Plan, StartedAttempt } from '../plan/types'

/** Parts of the statements for whole rows (`sendRow`), which `commit` and `insert` share. A source has the rows as `i`. */

/** What a start and a commit write alike. */
export interface Following {
  /** Of the steps that follow. */
  records: Records
  asks: boolean
  sends: EventPlace | null
  /** The step that begins calls a tool which this process knows. */
  calls: boolean
  /** The end of the run is answered from memory, masked with the vault of this snapshot. */
  recalls: boolean
  /** The caller's key was not read before. */
  presumes: boolean
}

interface FollowingValues {
  /** Null if it is not known yet. */
  plan: Plan | null
  sent: Outgoing | null | undefined
  caller: PresumedCaller | null
}

export function followingOf({ plan, sent, caller }: FollowingValues, recalls: boolean): Following {
  return {
    records: kindOfRecords(plan?.records ?? []),
    asks: plan?.pause != null,
    sends: sent?.place ?? null,
    calls: plan?.begun?.recalled != null,
    recalls,
    presumes: caller !== null,
  }
}

/** The values for `followingColumns`. */
export function followingRow({ plan, sent, caller }: FollowingValues): object {
  return {
    ...recordsRow(plan?.records ?? []),
    ...pauseRow(plan?.pause ?? null),
    ...sent?.row(),
    tool_id: plan?.begun?.recalled?.toolId,
    ...(caller && { key_hash: caller.keyHash, key_role: caller.role }),
  }
}

/** Columns of the rows, each after a comma. */
export function followingColumns({ records, asks, sends, calls, presumes }: Following): string {
  return `${RECORDS[records]} ${asks ? `, ${PAUSE}` : ''} ${sends ? `, ${EVENT}` : ''} ${calls ? `, ${TOOL}` : ''}
    ${presumes ? `, ${CALLER}` : ''}`
}

/**
 * The parts that open the pause and send the event, and what the statement returns for each row: see `Sent`.
 * @param notifies whether every process is told of the run
 * @param condition of what is opened and sent
 */
export function closingPart(
  { asks, sends, calls, recalls }: Following,
  notifies: boolean,
  source: string,
  condition = 'true',
): string {
  return `
    ${asks ? `, asked as (${insertPause(`${source} where ${condition}`)})` : ''}
    ${sends ? `, sent as (${insertEvent(sends, `${source} where ${condition}`)})` : ''}
    select i.ord, ${sends ? 'sent.generation' : 'null::text as generation'} ${calls ? TOOL_STAMP : ''} ${recalls ? VAULT : ''}
      ${notifies ? `, pg_notify('${RUN_CHANNEL}', i.run_id)` : ''}
    from ${source} ${sends ? 'left join sent on sent.event_id = i.event_id' : ''}`
}

/** The statement of each shape, whose text is built once, so that Postgres prepares it once. */
export function perShape<Shape extends object>(build: (shape: Shape) => RowStatement): (shape: Shape) => RowStatement {
  const known = new Map<string, RowStatement>()
  return (shape) => {
    const key = Object.values(shape).join()
    const statement = known.get(key) ?? build(shape)
    known.set(key, statement)
    return statement
  }
}

/**
 * Which records a plan inserts. A single one is part of its row, so that Postgres need not read a list for it. The record
 * of a step that has only begun has no other columns than `BEGUN`.
 */
type Records = 'none' | 'begun' | 'one' | 'many'

function kindOfRecords([first, ...others]: readonly NewRecord[]): Records {
  if (!first) return 'none'
  if (others.length > 0) return 'many'
  return first.status === 'running' ? 'begun' : 'one'
}

/** The columns of a record, each with what it is called in a row that `recordRow` writes. */
const BEGUN = {
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
const WHOLE = {
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

const RECORDS: Record<Records, string> = {
  none: '',
  begun: `, ${Object.values(BEGUN).join(', ')}`,
  one: `, ${Object.values(WHOLE).join(', ')}`,
  many: ', records jsonb',
}

/** Of each of many records. */
const RECORD_COLUMNS = columnsIn(Object.values(WHOLE).join(', '))

/** Joins the records of each row, as `recordsRow` has sent them. */
const EACH_RECORD = `
      cross join lateral (
        select ${fieldsOf('of.record', RECORD_COLUMNS)}, nth
        from jsonb_array_elements(i.records) with ordinality of(record, nth)) each`

/**
 * The numbers of what a statement changes, which its first part draws once it holds the rows. Many records draw their
 * own, after which the run draws another.
 */
export function numbers({ records }: Following, completes: boolean): string {
  const names = [completes && 'step_change', oneRecord(records) && 'visit_change', records !== 'many' && 'run_change']
  return names.map((name) => (name ? `, nextval('changes') as ${name}` : '')).join('')
}

/** The number of the run, and the condition under which it is later than those of the records. */
export function runNumber({ records }: Following): { change: string; after: string } {
  if (records !== 'many') return { change: 'i.run_change', after: 'true' }
  return { change: `nextval('changes')`, after: '(select count(*) from visits) > 0' }
}

const oneRecord = (records: Records) => records === 'begun' || records === 'one'

/** The part that inserts the records of a plan, in the order of the history: a join may return them in any order. */
export function visitsPart({ records }: Following, source: string): string {
  if (records === 'none') return ''
  const many = records === 'many'
  const columns = Object.entries(records === 'begun' ? BEGUN : WHOLE)
  const values = columns.map(([column, sent]) => {
    const [name = ''] = sent.split(' ')
    const value = many ? name : `i.${name}`
    return column === 'attempts' ? `coalesce(${value}, '[]'::jsonb)` : value
  })
  return `, visits as (
      insert into step_records (tenant_id, run_id, branch, ${columns.map(([column]) => column).join(', ')} ${many ? '' : ', change'})
      select i.tenant_id, i.run_id, i.branch, ${values.join(', ')} ${many ? '' : ', i.visit_change'}
      from ${source} ${many ? `${EACH_RECORD} order by i.ord, nth returning 1` : ''})`
}

function recordsRow(records: readonly NewRecord[]): object {
  const [first] = records
  if (!first) return {}
  if (records.length === 1) return recordRow(first)
  return { records: records.map((record) => arrayOf(RECORD_COLUMNS, recordRow(record))) }
}

function recordRow(record: NewRecord) {
  return {
    new_step: record.stepId,
    new_visit: record.visit,
    new_type: record.stepType,
    new_name: record.stepName,
    new_status: record.status,
    new_attempt: record.attempt,
    new_start: record.startTime,
    new_end: record.endTime,
    new_config: record.config,
    new_input: record.inputData,
    new_input_bytes: record.inputBytes,
    new_output: record.outputData,
    new_output_bytes: record.outputBytes,
    new_delta: record.delta,
    new_error: record.error,
    new_error_code: record.errorCode,
    new_handled: record.handled,
    new_exit: record.exit,
    new_attempts: record.attempts,
  }
}

/** Opens the pause of a plan. The source is named `i`. */
function insertPause(source: string): string {
  return `
      insert into pauses (tenant_id, id, run_id, branch, step_id, visit, kind, signal, due_at, event_name,
        event_key, event_rules, looked, child_run_id, child_state, created_at)
      select i.tenant_id, i.pause_id, i.run_id, i.branch, i.pause_step, i.pause_visit, i.pause_kind, i.pause_signal,
        i.pause_due, i.wait_name, i.wait_key, i.wait_rules, case when i.wait_name is not null then false end,
        i.child_run_id, case when i.child_run_id is not null then 'due' end, i.at
      from ${source}`
}

const PAUSE =
  'pause_id text, pause_step text, pause_visit int, pause_kind text, pause_signal json, pause_due timestamptz, wait_name text, wait_key text, wait_rules jsonb, child_run_id text'

function pauseRow(pause: NewPause | null) {
  if (!pause) return {}
  const { id, stepId, visit, signal, dueAt, event, childRunId } = pause
  return {
    pause_id: id,
    pause_step: stepId,
    pause_visit: visit,
    pause_kind: kindOf(pause),
    pause_signal: signal,
    pause_due: dueAt ?? null,
    child_run_id: childRunId,
    ...(event ? { wait_name: event.name, wait_key: event.key, wait_rules: event.rules } : {}),
  }
}

/** What a pause waits for. */
export function kindOf({ signal, event, childRunId }: Pick<Asked, 'signal' | 'event' | 'childRunId'>) {
  return signal?.type ?? (event ? 'event' : childRunId ? 'run' : 'timer')
}

/** The tenant's vault, sealed. */
const VAULT = `,
      (select coalesce(json_agg(json_build_object('name', v.name, 'sealed', v.sealed)), '[]'::json)::text
        from vault_secrets v where v.tenant_id = i.tenant_id) as vault`

/** The column of a row that begins a call of a tool which this process knows. */
const TOOL = 'tool_id text'

/** As `toolStamp`. */
const TOOL_STAMP = `,
      (select concat_ws('/', t.version, t.published_version, t.status) from tools t
        where t.tenant_id = i.tenant_id and t.id = i.tool_id) as tool_stamp`

/** The key of a caller who is only presumed. */
const CALLER = 'key_hash text, key_role text'

/** Lets a row through if its caller's key is good. */
export function knownCaller(at: string): string {
  const key = goodKey(String.raw, { hash: 'i.key_hash', tenantId: 'i.tenant_id', role: 'i.key_role', at })
  return `cross join lateral ${key} caller`
}

/** The caller of a statement that is sent now, if it has to check their key. */
export function callerToCheck({ presumed }: ServiceContext): PresumedCaller | null {
  if (presumed?.confirmed !== false) return null
  presumed.sent = true
  return presumed
}

/** What the statements return for a row. */
export interface Sent {
  generation: string | null
  /** Null if the tool is gone. */
  tool_stamp?: string | null
  /** `SealedSecret[]` as JSON, if the statement was asked for it. */
  vault?: string
}

/** Whether a step that begins with the row may use what its type remembers. */
export function settleRecalled(begun: StartedAttempt | null, { tool_stamp }: Sent): void {
  if (begun?.recalled && begun.recalled.stamp === tool_stamp) begun.known = begun.recalled.value
}
