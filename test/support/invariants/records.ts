import { ofRun, type Rule, sameVisit } from './rule'

/** The version that the run `r` had when the record `s` began. */
const VERSION_THEN = `coalesce((
  select m.from_version from run_moves m where m.tenant_id = s.tenant_id and m.run_id = s.run_id and m.after_seq >= s.seq
  order by m.n limit 1), r.workflow_version)`

export const recordRules: Rule[] = [
  {
    name: 'I19',
    says: 'a record is running, completed or failed: with an end unless running, and an error only if failed',
    broken: `select s.run_id || ': ' || s.step_id || ' is ' || s.status from s
      where s.status not in ('running', 'completed', 'failed')
        or (s.status = 'running') <> (s.end_time is null) or (s.status = 'failed') <> (s.error is not null)`,
  },
  {
    name: 'I19',
    says: 'no record ends before it began, or begins before the one ahead of it in its branch has ended',
    broken: `select run_id || ': ' || step_id from (
        select s.*, row_number() over walk > 1 as follows, lag(s.end_time) over walk as ready
        from s window walk as (partition by s.tenant_id, s.run_id, s.branch order by s.seq)) s
      where end_time < start_time or (follows and (ready is null or ready > start_time))`,
  },
  {
    name: 'I14',
    says: 'a visit of a step has one record, and visits are counted from one',
    broken: `select run_id || ': ' || step_id || ' has ' || count(*) || ' records up to visit ' || max(visit) from s
      group by tenant_id, run_id, branch, step_id having count(*) <> max(visit) or count(distinct visit) <> max(visit)`,
  },
  {
    name: 'I20',
    says: 'no record is running once its run has ended',
    broken: `select s.run_id || ': ' || s.step_id from s join r on ${ofRun('s')}
      where s.status = 'running' and r.end_time is not null`,
  },
  {
    name: 'I22',
    says: 'a history starts where its version or its part of it starts, follows the edges of the exits that were taken, and ends with its part; each part of it follows the version that the run had then',
    // Records copied from another run follow the version that one had, and so does the step from there to the first own
    // one, unless the versions are the same.
    broken: `select s.run_id || ': ' || coalesce(s.before, 'start') || ' to ' || s.step_id from (
        select s.*, lag(s.step_id) over walk as before, lag(s.exit) over walk as left_by, lag(s.start_time) over walk as before_at,
          lag(s.status = 'failed' and s.handled is not true) over walk as broke
        from s window walk as (partition by s.tenant_id, s.run_id, s.branch order by s.seq)) s
      join r on ${ofRun('s')}
      cross join lateral (select ${VERSION_THEN} as version) had
      join workflow_versions v on v.tenant_id = r.tenant_id and v.workflow_id = r.workflow_id and v.version = had.version
      where (r.retry_of is null or s.start_time >= r.start_time and (s.before is null or before_at >= r.start_time
          or exists (select from runs o where o.tenant_id = r.tenant_id and o.id = r.retry_of and o.workflow_version = had.version
            and o.retry_of is null and not exists (select from run_moves m where m.tenant_id = o.tenant_id and m.run_id = o.id))))
        and case
        when s.before is not null then s.before = coalesce(r.part->>'to', r.part->>'only')
          or not coalesce(s.broke and s.step_id = v.definition->>'onFailure', false) and not exists (
          select 1 from json_array_elements(v.definition->'edges') edge
          where edge->>'from' = s.before and edge->>'to' = s.step_id
            and (v.language is null or coalesce(edge->>'on', 'next') = coalesce(s.left_by, 'next')))
        when s.branch like '%/%' then not exists (
          select 1 from json_array_elements(v.definition->'edges') edge
          where edge->>'from' = split_part(split_part(s.branch, '/', -2), '#', 1) and edge->>'to' = s.step_id
            and coalesce(edge->>'on', 'next') in ('each', split_part(s.branch, '/', -1)))
          -- A for-each that names a workflow runs it in a step of its own.
          and s.step_id <> split_part(split_part(s.branch, '/', -2), '#', 1) || '.run'
        when s.branch = 'on-cancel' then s.step_id is distinct from v.definition->>'onCancel'
        else r.retry_of is null and s.step_id is distinct from coalesce(r.part->>'only', v.definition->>'initialStep') end`,
  },
]

/** Asks about a call of an agent, whose step continues with the answer. */
const question = (pause: string): string =>
  `(${pause}.signal->'call' is not null or ${pause}.signal->'limit' is not null)`

export const pauseRules: Rule[] = [
  {
    name: 'I38',
    says: 'a step that runs a workflow gets the end of that run, and nothing before it has ended',
    broken: `select p.run_id || ': ' || p.id from p
      left join r c on c.tenant_id = p.tenant_id and c.id = p.child_run_id
      where p.answer->'child' is not null and case
        when c.id is null then p.answer->'child'->'failed' is null
        else c.end_time is null or c.parent_run_id <> p.run_id
          or (c.status = 'completed') <> (p.answer->'child'->'failed' is null)
          or (c.status = 'completed' and c.result is distinct from p.answer->'child'->'result') end`,
  },
  {
    name: 'I38',
    says: 'a run with a parent belongs to one step of it, which knows of it',
    broken: `select c.id from r c where c.parent_run_id is not null and not exists (
      select from p where p.tenant_id = c.tenant_id and p.run_id = c.parent_run_id and p.child_run_id = c.id
        and p.child_state <> 'due')`,
  },
  {
    name: 'I20',
    says: 'a run is paused exactly while one of its pauses waits for a person, who may answer unless it is being cancelled',
    broken: `select r.id || ' is ' || r.status from r
      where (r.status = 'paused') <> ((r.cancel_requested_at is null or r.cleanup_started_at is not null) and exists (
        select 1 from p where ${ofRun('p')} and p.answered_at is null and p.signal is not null))`,
  },
  {
    name: 'I20',
    says: 'the record of an open pause is running',
    broken: `select p.run_id || ': ' || p.id from p where p.answered_at is null
      and not exists (select 1 from s where ${sameVisit('s', 'p')} and s.status = 'running')`,
  },
  {
    name: 'I20',
    says: 'an ended run leaves no pause open or answer untaken',
    broken: `select p.run_id || ': ' || p.id from p join r on ${ofRun('p')}
      where r.end_time is not null and (p.answered_at is null or p.consumed_at is null)`,
  },
  {
    name: 'I4',
    says: 'a pause’s step completes with the answer given to that pause, once the answer is taken',
    broken: `select p.run_id || ': ' || p.id from p join s on ${sameVisit('s', 'p')}
      where s.status = 'completed' and p.kind not in ('timer', 'run') and not (${question('p')}) and (p.answer is null or p.consumed_at is null
        or s.output_data is distinct from case when p.answer::jsonb ? 'actionId'
          then (p.answer::jsonb - 'data') || coalesce(p.answer->'data', '{}')
          else coalesce(p.answer->'data', p.answer->'event', p.answer) end)`,
  },
  {
    name: 'I4',
    says: 'an answer has a time and somebody who gave it',
    broken: `select p.run_id || ': ' || p.id from p
      where p.answer is not null and (p.answered_at is null or p.answered_by is null)`,
  },
  {
    name: 'I4',
    says: 'without an answer, a pause only closes with its run, its branch, or for its cleanup',
    broken: `select p.run_id || ': ' || p.id from p join r on ${ofRun('p')}
      where p.answer is null and p.answered_at is not null and r.end_time is null and r.cleanup_started_at is null
        and not exists (select 1 from w where w.tenant_id = p.tenant_id and w.run_id = p.run_id
          and w.branch = p.branch and w.branch like '%/%' and w.status = 'ended')
        and not (${question('p')} and exists (select 1 from s where ${sameVisit('s', 'p')} and s.status = 'failed'))`,
  },
  {
    name: 'I4',
    says: 'a pause is answered after it was opened, and its answer taken after that',
    broken: `select p.run_id || ': ' || p.id || ' opened ' || p.created_at || ', answered ' || p.answered_at
        || ', taken ' || coalesce(p.consumed_at::text, 'never') from p
      where p.answered_at < p.created_at or p.consumed_at < p.answered_at`,
  },
  {
    name: 'I4',
    says: 'an answer that was taken counts, unless the run or its branch was stopped meanwhile',
    broken: `select p.run_id || ': ' || p.id from p join r on ${ofRun('p')}
      where p.answer is not null and p.consumed_at is not null and (r.end_time is null or r.outcome = 'succeeded')
        and not (${question('p')})
        and r.cleanup_started_at is null
        and not exists (
          select 1 from s where ${sameVisit('s', 'p')} and s.status = case
            when p.kind <> 'timer' and p.answer::jsonb ? 'due' then 'failed'
            when p.answer->'child'->'failed' is not null then 'failed'
            when p.kind in ('event', 'run') and s.error_code = 'DATA_TOO_LARGE' then 'failed' else 'completed' end)
        and not exists (select 1 from s where ${sameVisit('s', 'p')} and s.error_code = 'STOPPED')`,
  },
  {
    name: 'I36',
    says: 'a wait that has looked leaves no event that was delivered and that it would take',
    broken: `select p.run_id || ': ' || p.id || ' missed ' || e.id from p join r on ${ofRun('p')}
      join events e on e.tenant_id = p.tenant_id and e.name = p.event_name and coalesce(e.key = p.event_key, p.event_key is null)
      where p.answered_at is null and p.looked and e.delivered_at is not null and p.event_rules->>'when' is null
        and e.received_at >= case p.event_rules->>'since' when 'run' then r.start_time else p.created_at end
        and not exists (select 1 from p other where other.tenant_id = p.tenant_id and other.run_id = p.run_id
          and other.step_id = p.step_id and other.event_id = e.id)`,
  },
  {
    name: 'I6',
    says: 'a pause opens only after the answer to the one before it was taken',
    broken: `select p.run_id || ': ' || p.id from p
      join p earlier on earlier.tenant_id = p.tenant_id and earlier.run_id = p.run_id and earlier.branch = p.branch
      where earlier.created_at < p.created_at and not (${question('p')} and ${sameVisit('earlier', 'p')})
        and (earlier.consumed_at is null or earlier.consumed_at > p.created_at)`,
  },
]
