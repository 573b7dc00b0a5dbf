import { asSent } from '@/db/index'
import { goodKey } from '../auth/presumed'
import type { PresumedCaller, ServiceContext } from '../context'
import type { Asked } from '../steps/define-step'
import type { Begun, NewPause, NewRecord } from './plan'

/** Parts of the statements for whole rows (`sendRow`), which `commit` and `insert` share. A source has the rows as `i`. */

/** How many records a plan inserts. A single one is part of its row, so that Postgres need not read a list for it. */
export type Records = 'none' | 'one' | 'many'

export function countOf({ length }: readonly NewRecord[]): Records {
  return length === 0 ? 'none' : length === 1 ? 'one' : 'many'
}

/** What `recordRow` writes. */
const RECORD = `
  new_step text, new_visit int, new_type text, new_name text, new_status text, new_attempt int, new_start timestamptz,
  new_end timestamptz, new_config json, new_input jsonb, new_input_bytes int, new_output jsonb, new_output_bytes int,
  new_delta jsonb, new_error text, new_error_code text, new_handled boolean, new_exit text, new_attempts jsonb`

export const RECORDS: Record<Records, string> = { none: '', one: `, ${RECORD}`, many: ', records json' }

/**
 * Inserts the records of a plan in the order of the history: a join may return them in any order.
 * @param condition of the source
 */
export function insertRecords(records: 'one' | 'many', source: string, condition = 'true'): string {
  const many = records === 'many'
  return `
      insert into step_records (tenant_id, run_id, branch, step_id, visit, step_type, step_name, status, attempt,
        start_time, end_time, config, input_data, input_bytes, output_data, output_bytes, delta, error, error_code,
        handled, exit, attempts)
      select i.tenant_id, i.run_id, i.branch, new_step, new_visit, new_type, new_name, new_status, new_attempt,
        new_start, new_end, new_config, new_input, new_input_bytes, new_output, new_output_bytes, new_delta, new_error,
        new_error_code, new_handled, new_exit, coalesce(new_attempts, '[]'::jsonb)
      from ${source} ${many ? `cross join lateral json_to_recordset(i.records) as v(nth int, ${RECORD})` : ''}
      where ${condition}
      ${many ? 'order by i.ord, v.nth' : ''}`
}

export function recordsRow(records: readonly NewRecord[]): object {
  const [only] = records
  if (only && records.length === 1) return recordRow(only)
  return { records: records.map((record, nth) => asSent({ nth, ...recordRow(record) })) }
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

/** Opens the pause of a plan. */
export function insertPause(source: string): string {
  return `
      insert into pauses (tenant_id, id, run_id, branch, step_id, visit, kind, signal, due_at, event_name,
        event_key, event_rules, looked, child_run_id, child_state, created_at)
      select tenant_id, pause_id, run_id, branch, pause_step, pause_visit, pause_kind, pause_signal, pause_due, wait_name,
        wait_key, wait_rules, case when wait_name is not null then false end, child_run_id,
        case when child_run_id is not null then 'due' end, at
      from ${source}`
}

export const PAUSE =
  'pause_id text, pause_step text, pause_visit int, pause_kind text, pause_signal json, pause_due timestamptz, wait_name text, wait_key text, wait_rules jsonb, child_run_id text'

export function pauseRow(pause: NewPause | null) {
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
export const VAULT = `,
      (select coalesce(json_agg(json_build_object('name', v.name, 'sealed', v.sealed)), '[]'::json)::text
        from vault_secrets v where v.tenant_id = i.tenant_id) as vault`

/** The column of a row that begins a call of a tool which this process knows. */
export const TOOL = 'tool_id text'

/** As `toolStamp`. */
export const TOOL_STAMP = `,
      (select concat_ws('/', t.version, t.published_version, t.status) from tools t
        where t.tenant_id = i.tenant_id and t.id = i.tool_id) as tool_stamp`

/** The key of a caller who is only presumed. */
export const CALLER = 'key_hash text, key_role text'

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

export function callerRow(caller: PresumedCaller | null) {
  return caller && { key_hash: caller.keyHash, key_role: caller.role }
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
export function settleRecalled(begun: Begun | null, { tool_stamp }: Sent): void {
  if (begun?.recalled && begun.recalled.stamp === tool_stamp) begun.prepared = Promise.resolve(begun.recalled.value)
}
