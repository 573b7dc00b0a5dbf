import { fieldsOf } from '@/db/index'
import { type EventPlace, insertEvent } from '../../outbox'
import { RUN_CHANNEL } from '../notice/announce'
import { BEGUN, STARTED, VISIT_COLUMNS, WHOLE, x } from './columns'
import type { Output, Part } from './types'

// Each change of the rows of a run, once. A part reads its row as `i`, and the columns it names in `x(…)` as `x`.

/** A visit completes or fails. */
export const FINISH_VISIT: Part = {
  part: 'finish visit',
  draws: 'step_change',
  text: (i) => `
      update step_records s set status = x.step_status, handled = x.handled, error = x.step_error,
        error_code = x.step_error_code, exit = x.exit, end_time = x.ended_at, attempts = coalesce(x.attempts, s.attempts),
        usage = x.usage, output_data = x.output_data, output_bytes = x.output_bytes, delta = x.delta,
        receipt = x.receipt, change = i.step_change
      from ${i}, ${x(`step_id, visit, step_status, handled, step_error, step_error_code, exit, ended_at, attempts, usage,
        output_data, output_bytes, delta, receipt`)}
      where s.tenant_id = i.tenant_id and s.run_id = i.run_id and s.branch = i.branch and s.step_id = x.step_id
        and s.visit = x.visit`,
}

const namesOf = (columns: Record<string, string>) => Object.values(columns).map((column) => column.split(' ')[0] ?? '')

/** Inserts a visit that has only begun, from the columns of its row, so that Postgres need not read a list for it. */
export const BEGIN_VISIT: Part = {
  part: 'begin visit',
  draws: 'visit_change',
  text: (i) => `
      insert into step_records (tenant_id, run_id, branch, change, ${Object.keys(BEGUN).join(', ')})
      select i.tenant_id, i.run_id, i.branch, i.visit_change, ${namesOf(BEGUN)
        .map((name) => `x.${name}`)
        .join(', ')}
      from ${i}, ${x(namesOf(BEGUN).join())}`,
}

/** Inserts visits in the order of the history: a join may return them in any order. */
export const INSERT_VISITS: Part = {
  part: 'insert visits',
  text: (i) => `
      insert into step_records (tenant_id, run_id, branch, ${Object.keys(WHOLE).join(', ')})
      select i.tenant_id, i.run_id, i.branch, ${namesOf(WHOLE).map(valueOfVisit).join(', ')}
      from ${i} cross join ${x('visits')} cross join lateral (
        select ${fieldsOf('of.visit', VISIT_COLUMNS)}, nth
        from jsonb_array_elements(x.visits) with ordinality of(visit, nth)) each
      order by i.ord, nth
      returning 1`,
}

const valueOfVisit = (name: string) => (name === 'new_attempts' ? `coalesce(${name}, '[]'::jsonb)` : name)

const MOVED = `updated_at = i.at, change = i.run_change, data = coalesce(x.data, r.data),
        data_refs = case when x.data is null then r.data_refs else x.data_refs end,
        current_step_id = coalesce(x.current_step_id, r.current_step_id), status = coalesce(x.run_status, r.status),
        failing = coalesce(x.failing, r.failing)`
const OF_MOVED = 'data, data_refs, current_step_id, run_status, failing'

/** The run continues or pauses. */
export const MOVE_RUN: Part = {
  part: 'move run',
  draws: 'run_change',
  after: [INSERT_VISITS],
  text: (i) => `
      update runs r set ${MOVED}
      from ${i}, ${x(OF_MOVED)}
      where r.tenant_id = i.tenant_id and r.id = i.run_id`,
}

export const END_RUN: Part = {
  part: 'end run',
  draws: 'run_change',
  after: [INSERT_VISITS],
  text: (i) => `
      update runs r set ${MOVED}, outcome = x.outcome, end_time = i.at, result = x.result, error = x.error,
        cancellation = coalesce(x.cancellation, r.cancellation)
      from ${i}, ${x(`${OF_MOVED}, outcome, result, error, cancellation`)}
      where r.tenant_id = i.tenant_id and r.id = i.run_id`,
}

/** A run starts, after its visits, whose change numbers precede its own. Its other rows follow. */
export const INSERT_RUN: Part = {
  part: 'insert run',
  draws: 'run_change',
  after: [INSERT_VISITS],
  text: (i) => `
      insert into runs (tenant_id, id, updated_at, change, ${others.map(({ name }) => name).join(', ')})
      select i.tenant_id, i.run_id, i.at, i.run_change, ${others.map(({ sent }) => `x.${sent}`).join(', ')}
      from ${i}, ${x(others.map(({ sent }) => sent).join())}
      returning 1`,
}
const others = STARTED.filter(({ name }) => !['tenant_id', 'id', 'updated_at'].includes(name))

/** The walk of a run that starts. */
export const INSERT_WALK: Part = {
  part: 'insert walk',
  after: [INSERT_RUN],
  text: (i) => `
      insert into walks (tenant_id, run_id, branch, epoch, segment, status, engine_run_id, step_id, visit, updated_at)
      select i.tenant_id, i.run_id, i.branch, x.epoch, x.segment, x.walk_status, x.engine_run_id, x.to_step, x.to_visit,
        i.at
      from ${i}, ${x('epoch, segment, walk_status, engine_run_id, to_step, to_visit')}`,
}

/** A walk is claimed, is released at a pause or for its branches, ends, has a cursor, or stores what its branch wrote. */
export const MOVE_WALK: Part = {
  part: 'move walk',
  text: (i) => `
      update walks w set status = coalesce(x.walk_status, w.status), segment = coalesce(x.segment, w.segment),
        updated_at = i.at, engine_run_id = case when x.walk_status in ('resting', 'waiting') then null
          else coalesce(x.engine_run_id, w.engine_run_id) end,
        step_id = coalesce(x.to_step, w.step_id), visit = coalesce(x.to_visit, w.visit),
        data = coalesce(x.own, w.data), data_refs = case when x.own is null then w.data_refs else x.own_refs end,
        arrival = coalesce(x.arrival, w.arrival)
      from ${i}, ${x('walk_status, segment, engine_run_id, to_step, to_visit, own, own_refs, arrival')}
      where w.tenant_id = i.tenant_id and w.run_id = i.run_id and w.branch = i.branch`,
}

const endWalks = (others: string) => (i: string) =>
  `
      update walks w set status = 'ended', updated_at = i.at
      from ${i}
      where w.tenant_id = i.tenant_id and w.run_id = i.run_id and w.status <> 'ended' ${others}`

export const END_WALKS: Part = { part: 'end walks', text: endWalks('') }
/** All but the walk that `MOVE_WALK` writes. */
export const END_OTHER_WALKS: Part = { part: 'end other walks', text: endWalks('and w.branch <> i.branch') }

/** Takes the answer to a pause, if one exists. A new answer is stored as well. */
export const TAKE_ANSWER: Part = {
  part: 'take answer',
  text: (i) => `
      update pauses p set consumed_at = x.ended_at, answer = coalesce(x.answer, p.answer),
        answered_by = coalesce(x.answered_by, p.answered_by),
        answered_at = case when x.answer is null then p.answered_at else x.ended_at end
      from ${i}, ${x('answered_pause, ended_at, answer, answered_by')}
      where p.tenant_id = i.tenant_id and p.run_id = i.run_id and p.id = x.answered_pause and p.consumed_at is null
        and (p.answered_at is not null or x.answer is not null)`,
}

/** Stores an answer to an open pause; it is taken later. */
export const STORE_ANSWER: Part = {
  part: 'store answer',
  text: (i) => `
      update pauses p set answered_at = x.answered_at, answer = x.answer, answered_by = x.answered_by,
        answered_via = x.answered_via, event_id = coalesce(x.answered_with, p.event_id)
      from ${i}, ${x('answered_pause, answered_at, answer, answered_by, answered_via, answered_with')}
      where p.tenant_id = i.tenant_id and p.run_id = i.run_id and p.id = x.answered_pause and p.answered_at is null
      returning 1`,
}

export const OPEN_PAUSE: Part = {
  part: 'open pause',
  after: [INSERT_RUN],
  text: (i) => `
      insert into pauses (tenant_id, id, run_id, branch, step_id, visit, kind, signal, due_at, event_name,
        event_key, event_rules, looked, child_run_id, child_state, remind_at, created_at)
      select i.tenant_id, x.pause_id, i.run_id, i.branch, x.pause_step, x.pause_visit, x.pause_kind, x.pause_signal,
        x.pause_due, x.wait_name, x.wait_key, x.wait_rules, case when x.wait_name is not null then false end,
        x.child_run_id, case when x.child_run_id is not null then 'due' end, x.pause_remind, i.at
      from ${i}, ${x(`pause_id, pause_step, pause_visit, pause_kind, pause_signal, pause_due, wait_name, wait_key,
        wait_rules, child_run_id, pause_remind`)}`,
}

const sends = (part: string, place: EventPlace): Part => ({
  part,
  returnsEvent: true,
  after: [INSERT_RUN],
  text: (i) => insertEvent(place, i, x),
})

/** A message to the engine goes into the outbox, or becomes a job of the engine immediately. */
export const SEND = { outbox: sends('send event', 'outbox'), job: sends('queue job', 'job') } as const

/** Whether `STORE_ANSWER` found the pause open. */
export const STORED: Output = { output: 'stored', text: '(select count(*) from store_answer) > 0 as stored' }

/** Notifies every process about the run. */
export const NOTIFY: Output = { output: 'notify', text: `pg_notify('${RUN_CHANNEL}', i.run_id)` }

/** Like `toolStamp`: the version in effect of the tool whose call begins. */
export const TOOL_STAMP: Output = {
  output: 'tool stamp',
  text: `(select concat_ws('/', t.version, t.published_version, t.status)
        from ${x('tool_id')}, tools t where t.tenant_id = i.tenant_id and t.id = x.tool_id) as tool_stamp`,
}

/** The tenant's vault, sealed. */
export const VAULT: Output = {
  output: 'vault',
  text: `(select coalesce(json_agg(json_build_object('name', v.name, 'sealed', v.sealed)), '[]'::json)::text
        from vault_secrets v where v.tenant_id = i.tenant_id) as vault`,
}
