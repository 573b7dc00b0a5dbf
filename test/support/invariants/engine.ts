import type { Rule } from './rule'

const SAME_WALK = 'carrier.tenant_id = w.tenant_id and carrier.run_id = w.run_id and carrier.branch = w.branch'
const SAME_SEGMENT = 'carrier.epoch = w.epoch and carrier.segment = w.segment'

/** An engine run that failed ends its walk's run through its failure handler. */
const FAILING = `exists (select 1 from carrier
    where ${SAME_WALK} and ${SAME_SEGMENT} and (
      (carrier.handler and carrier.status = 'running')
      or exists (select 1 from engine.jobs j where j.run_id = carrier.id and j.kind = 'end')))`

/** How long after its lease a claim may wait for a process that takes it over. */
const TAKEN_OVER = `interval '60 seconds'`

/**
 * The engine runs and jobs that continue walks. These invariants are true at any moment on the embedded engine, even
 * while processes are dead.
 */
export const engineRules: Rule[] = [
  {
    name: 'I17',
    says: 'a requested walk has the event, or the engine run, that will claim it',
    broken: `select w.run_id || ': ' || w.branch || ' ' || w.epoch || '.' || w.segment from w join r
      on r.tenant_id = w.tenant_id and r.id = w.run_id
      where w.status = 'requested' and r.end_time is null and not ${FAILING}
        and not exists (select 1 from sent where sent.name = 'workflow/walk.requested' and sent.run_id = w.run_id
          and sent.branch = w.branch and sent.epoch = w.epoch and sent.segment = w.segment)
        and not exists (select 1 from carrier
          where ${SAME_WALK} and ${SAME_SEGMENT} and carrier.status = 'running' and not carrier.handler)`,
  },
  {
    name: 'I17',
    says: 'the engine run that claimed a walk has a job, or waits for the answer to an open pause',
    broken: `select w.run_id || ': ' || w.branch || ', ' || r.status || ', claimed by ' || coalesce(w.engine_run_id, 'none')
        || ', ' || coalesce(own.status, 'gone')
      from w join r on r.tenant_id = w.tenant_id and r.id = w.run_id
      left join carrier own on own.id = w.engine_run_id
      where w.status = 'walking' and r.end_time is null and not ${FAILING}
        and (own.status is distinct from 'running' or not (
          exists (select 1 from engine.jobs j where j.run_id = own.id)
          or (exists (select 1 from engine.waits v where v.run_id = own.id and v.kind = 'event')
            and (exists (
              select 1 from p where p.tenant_id = w.tenant_id and p.run_id = w.run_id and p.branch = w.branch
                and p.answered_at is null) or exists (
              select 1 from sent where sent.name = 'workflow/run.woken' and sent.run_id = w.run_id)))))`,
  },
  {
    name: 'I17',
    says: 'a resting walk waits for the answer to an open pause of its own',
    broken: `select w.run_id || ': ' || w.branch || ', ' || r.status from w join r
      on r.tenant_id = w.tenant_id and r.id = w.run_id
      where w.status = 'resting' and r.end_time is null and not exists (
        select 1 from p where p.tenant_id = w.tenant_id and p.run_id = w.run_id and p.branch = w.branch
          and p.answered_at is null)`,
  },
  {
    name: 'I16',
    says: 'a walking walk names the engine run that claimed it, and a requested one names none',
    broken: `select w.run_id || ': ' || w.branch || ' is ' || w.status from w
      where w.status <> 'ended' and (w.status = 'walking') <> (w.engine_run_id is not null)`,
  },
  {
    name: 'I16',
    says: 'a segment of a walk has one engine run, and none is ahead of its walk',
    broken: `select w.run_id || ': ' || w.branch || ' ' || w.epoch || '.' || w.segment from w join carrier on ${SAME_WALK}
      where carrier.status = 'running' and not carrier.handler
      group by w.tenant_id, w.run_id, w.branch, w.epoch, w.segment
      having count(*) filter (where ${SAME_SEGMENT}) > 1
        or bool_or((carrier.epoch, carrier.segment) > (w.epoch, w.segment) and carrier.epoch >= w.epoch)`,
  },
  {
    name: 'I16',
    says: 'jobs and waits belong to engine runs that have not ended, or jobs carry their event themselves',
    broken: `select 'job ' || j.id from engine.jobs j left join engine.runs e on e.id = j.run_id
      where j.run_id is not null and j.event is null and j.kind <> 'end' and e.status is distinct from 'running'
      union all
      select 'wait ' || v.run_id || ' ' || v.step_id from engine.waits v left join engine.runs e on e.id = v.run_id
      where e.status is distinct from 'running'`,
  },
  {
    name: 'I16',
    says: 'a claim’s lease is short, and a live process takes it over when it has ended',
    broken: `select 'job ' || j.id || ' of ' || j.owner from engine.jobs j
      where j.owner is not null and (j.due_at > now() + ${TAKEN_OVER} or (j.due_at < now() - ${TAKEN_OVER}
        and exists (select 1 from engine.workers k where k.last_seen > now() - interval '15 seconds')))
      union all
      select 'event ' || o.id from outbox o where o.leased_until > now() + ${TAKEN_OVER}`,
  },
  {
    name: 'I1',
    says: 'an event in the outbox concerns a run that exists or that a step waits for, and a segment its walk has reached',
    broken: `select sent.id || ' ' || sent.name from sent
      left join runs on runs.tenant_id = sent.tenant_id and runs.id = sent.run_id
      left join walks w on w.tenant_id = sent.tenant_id and w.run_id = sent.run_id and w.branch = sent.branch
      where (sent.name in ('workflow/walk.requested', 'workflow/run.woken', 'workflow/run.terminated') and runs.id is null)
        or (sent.name = 'workflow/child.due' and runs.id is null and not exists (
          select 1 from pauses p where p.tenant_id = sent.tenant_id and p.child_run_id = sent.run_id))
        or sent.name not in ('workflow/walk.requested', 'workflow/run.woken', 'workflow/run.terminated',
          'workflow/child.due', 'workflow/answer.held', 'workflow/event.posted', 'webhook/endpoint.due')
        or (sent.name = 'workflow/walk.requested'
          and (w.run_id is null or sent.epoch > w.epoch or (sent.epoch = w.epoch and sent.segment > w.segment)))`,
  },
]
