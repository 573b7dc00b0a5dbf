import type { Rule } from './rule'

const entry = (actions: string, of: string) =>
  `from audit_entries a where a.tenant_id = r.tenant_id and a.thing_id = ${of} and a.action in (${actions})`

/** The actions that leave a trace in a run, by which the audit log is compared with it. */
export const auditRules: Rule[] = [
  {
    name: 'I32',
    says: 'a run that somebody stopped has an entry of theirs that says so',
    // The product itself stops a run's children; the run is the actor.
    broken: `select r.id || ' was stopped by ' || (r.cancellation->>'requestedBy') from r
      where r.cancellation->>'requestedBy' <> 'system' and not exists (
        select ${entry(`case r.cancellation->>'kind' when 'cancel' then 'run.cancelled' else 'run.terminated' end`, 'r.id')}
          and a.actor_id = r.cancellation->>'requestedBy')`,
  },
  {
    name: 'I32',
    says: 'a run is written to have been cancelled once at most, and terminated once',
    broken: `select r.id from r
      where exists (select ${entry(`'run.cancelled', 'run.terminated'`, 'r.id')} group by a.action having count(*) > 1)`,
  },
  {
    name: 'I32',
    says: 'each run that repeats another has one entry that names it',
    broken: `select r.id || ' repeats ' || r.retry_of from r
      where r.retry_of is not null
        and (select count(*) ${entry(`'run.retried', 'run.rerun'`, 'r.retry_of')} and a.details->>'newRun' = r.id) <> 1`,
  },
  {
    name: 'I32',
    says: 'each move of a run has an entry',
    broken: `select r.id from r
      where (select count(*) ${entry(`'run.moved'`, 'r.id')})
        <> (select count(*) from run_moves m where m.tenant_id = r.tenant_id and m.run_id = r.id)`,
  },
]
