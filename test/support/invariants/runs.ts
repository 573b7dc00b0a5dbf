import { wholeData } from '@/db/run-data'
import { ofRun, type Rule } from './rule'

/** Codes of runs that fail outside a step, so that no record carries the error. */
const RUN_LEVEL = [
  'UNKNOWN_STEP',
  'ENGINE_GAVE_UP',
  'WORKER_LOST',
  'VALUE_REFUSED',
  'VALUE_TOO_LARGE',
  'DATA_TOO_LARGE',
]
const runLevel = RUN_LEVEL.map((code) => `'${code}'`).join(', ')

export const runRules: Rule[] = [
  {
    name: 'I8',
    says: 'a run that came to its failure path fails with what brought it there, unless it was stopped',
    broken: `select r.id from r where r.failing is not null and r.end_time is not null
      and r.outcome not in ('cancelled', 'terminated') and r.error->>'code' <> 'RUN_TIMED_OUT'
      and (r.failing - 'outcome' <> r.error or r.failing->>'outcome' <> r.outcome)`,
  },
  {
    name: 'I8',
    says: 'a run’s status, outcome and end time agree on whether and how it has ended',
    broken: `select r.id || ' is ' || r.status || ', outcome ' || coalesce(r.outcome, 'none') from r
      where (r.status in ('completed', 'failed')) <> (r.end_time is not null)
        or (r.outcome is not null) <> (r.end_time is not null)
        or (r.status = 'completed') <> (coalesce(r.outcome, '') = 'succeeded')`,
  },
  {
    name: 'I8',
    says: 'no step begins after the end of its run',
    broken: `select s.run_id || ': ' || s.step_id from s join r on ${ofRun('s')} where s.start_time > r.end_time`,
  },
  {
    name: 'I8',
    says: 'every walk of an ended run has ended, and an open run has a walk that has not',
    broken: `select r.id || ' is ' || r.status from r
      where (r.end_time is null) <> exists (select 1 from w where ${ofRun('w')} and w.status <> 'ended')`,
  },
  {
    name: 'I10',
    says: 'a run that was asked to stop ends as stopped, and by what was asked last',
    broken: `select r.id || ' ended ' || r.outcome from r
      where r.end_time is not null and (
        (r.cancel_requested_at is not null and r.outcome not in ('cancelled', 'terminated'))
        or (r.outcome = 'cancelled' and coalesce(r.cancellation->>'kind', '') <> 'cancel')
        or (r.outcome = 'terminated' and coalesce(r.cancellation->>'kind', '') <> 'terminate'))`,
  },
  {
    name: 'I10',
    says: 'a cleanup has its walk once it began, and a cancelled run says how its cleanup ended',
    broken: `select r.id from r
      where (r.cleanup_started_at is not null) <> exists (select 1 from w where ${ofRun('w')} and w.branch = 'on-cancel')
        or (r.outcome = 'cancelled' and (r.cleanup_started_at is not null) <> (r.cancellation->>'cleanup' is not null))`,
  },
  {
    name: 'I20',
    says: 'only a completed run has a result, and only a failed one an error',
    broken: `select r.id || ' is ' || r.status from r
      where (r.result is not null and r.status <> 'completed') or (r.error is not null) <> (r.status = 'failed')`,
  },
  {
    name: 'I20',
    says: 'a run that failed by itself has the failed record that says why, and in a completed run every failure was handled',
    broken: `select r.id || ' is ' || r.outcome || ' ' || coalesce(r.error->>'code', '') from r
      cross join lateral (
        select count(*) filter (where s.error_code = r.error->>'code') as told,
          count(*) filter (where s.handled is not true and s.branch not like '%/%' and s.error_code <> 'STOPPED') as lost
        from s where ${ofRun('s')} and s.status = 'failed') records
      where (r.outcome = 'failed' and told = 0 and r.error->>'code' not in (${runLevel}))
        or (r.outcome = 'succeeded' and lost > 0)`,
  },
  {
    name: 'I20',
    says: 'the current step is an open one while a step is open',
    broken: `select r.id || ' is at ' || coalesce(r.current_step_id, 'none') from r
      where r.end_time is null and exists (select 1 from s where ${ofRun('s')} and s.end_time is null)
        and not exists (select 1 from s where ${ofRun('s')} and s.branch like '%/%')
        and not exists (
          select 1 from s where ${ofRun('s')} and s.end_time is null and s.step_id = r.current_step_id)`,
  },
  {
    name: 'I14',
    says: 'a run’s data is its input and what its completed steps and handled failures added, in their order; not what branches wrote',
    // Materialized, or Postgres adds up every run's steps once for each run.
    broken: `with steps as materialized (
        -- What was copied from another run began before this one, and edits replace it.
        select s.tenant_id, s.run_id,
          jsonb_object_agg(field.key, field.value order by s.seq) filter (where s.start_time < o.start_time) as copied,
          jsonb_object_agg(field.key, field.value order by s.seq) filter (where s.start_time >= o.start_time) as added
        from s join r o on o.tenant_id = s.tenant_id and o.id = s.run_id cross join lateral jsonb_each(s.delta) field
        where (s.status = 'completed' or s.handled or s.delta ? 'error') and s.branch not like '%/%' and jsonb_typeof(s.delta) = 'object' group by s.tenant_id, s.run_id
      )
      select r.id from r left join steps on ${ofRun('steps')}
      where ${wholeData('r', { tenant: 'r.tenant_id', id: 'r.id', input: 'r.input' })} is distinct from r.input || coalesce(steps.copied, '{}') || coalesce(r.edits, '{}') || coalesce(steps.added, '{}')
        -- A step of a branch may end the run: then its data is what that branch saw.
        and not exists (select 1 from w where ${ofRun('w')} and w.arrival ? 'ends')`,
  },
]
