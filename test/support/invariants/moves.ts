import { ofRun, type Rule, sameVisit } from './rule'

/** Whether the visit `s` waits: at a pause, or for its branches. An agent that asks about a call is at work. */
const waits = `(exists (select from p where ${sameVisit('p', 's')} and p.signal->'call' is null and p.signal->'limit' is null)
  or exists (select from scopes o where o.tenant_id = s.tenant_id and o.run_id = s.run_id
    and o.id = s.branch || '/' || s.step_id || '#' || s.visit))`

export const moveRules: Rule[] = [
  {
    name: 'I53',
    says: 'the versions of a run form a chain of moves that ends in its own, and a move leads to a published one',
    broken: `select m.run_id || ': move ' || m.n || ' from ' || m.from_version || ' to ' || m.to_version
      from (
        select m.*, row_number() over one as place, lead(m.from_version) over one as then_from
        from run_moves m window one as (partition by m.tenant_id, m.run_id order by m.n)) m
      join r on ${ofRun('m')}
      left join workflow_versions v on v.tenant_id = m.tenant_id and v.workflow_id = m.workflow_id and v.version = m.to_version
      where m.n <> m.place or m.from_version = m.to_version or m.workflow_id <> r.workflow_id
        or m.to_version <> coalesce(m.then_from, r.workflow_version) or v.published_at is null`,
  },
  {
    name: 'I53',
    says: 'no attempt began before a move of its run and ended after it',
    broken: `select s.run_id || ': ' || s.step_id || ' at move ' || m.n from run_moves m
      join r on ${ofRun('m')}
      join s on s.tenant_id = m.tenant_id and s.run_id = m.run_id and s.seq <= m.after_seq
      where coalesce(s.end_time > m.moved_at, true) and not ${waits}`,
  },
]
