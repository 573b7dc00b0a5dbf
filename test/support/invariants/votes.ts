import type { Rule } from './rule'

/** For each action of each decision that needs votes: the required and present number, and whether it was chosen. */
const counted = `
  select p.run_id || ': ' || p.id || ' has ' || votes || ' votes for ' || action || ' of ' || needed as found,
    p.answered_at, votes, needed, coalesce(p.answer->>'actionId', '') = action as chosen
  from p cross join lateral json_array_elements(p.signal->'actions') offered
  cross join lateral (
    select offered->>'id' as action, coalesce((p.signal->'needs'->>(offered->>'id'))::int, 1) as needed,
      (select count(*) from v where v.tenant_id = p.tenant_id and v.run_id = p.run_id and v.pause_id = p.id
        and v.action_id = offered->>'id') as votes) counts
  where p.signal->'needs' is not null`

export const voteRules: Rule[] = [
  {
    name: 'I37',
    says: 'an action is chosen with the vote that completes what it needs, and no other action ever has enough',
    broken: `select found from (${counted}) counted where case when chosen then votes <> needed else votes >= needed end`,
  },
  {
    name: 'I37',
    says: 'a person has one vote at a pause that asks for votes, and none after it has closed',
    broken: `select p.run_id || ': ' || p.id || ' by ' || v.person from v
      join p on p.tenant_id = v.tenant_id and p.run_id = v.run_id and p.id = v.pause_id
      group by p.run_id, p.id, v.tenant_id, v.person, p.answered_at, p.signal->>'needs'
      having count(*) > 1 or p.signal->>'needs' is null or max(v.created_at) > p.answered_at`,
  },
  {
    name: 'I37',
    says: 'a decision keeps the votes that were cast',
    broken: `select p.run_id || ': ' || p.id from p
      where p.signal->'needs' is not null and p.answer->>'actionId' is not null
        and json_array_length((p.answer::jsonb->'votes')::json) is distinct from (
          select count(*)::int from v where v.tenant_id = p.tenant_id and v.run_id = p.run_id and v.pause_id = p.id)`,
  },
]
