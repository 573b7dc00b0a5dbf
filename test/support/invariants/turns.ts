import { type Rule, sameVisit } from './rule'

/** Joins a call to the turn `t`. */
const ofTurn = (table: string): string => `${table}.tenant_id = t.tenant_id and ${table}.turn_id = t.id`

export const turnRules: Rule[] = [
  {
    name: 'I47',
    says: 'the usage of a turn is the sum of its calls',
    broken: `select t.id from t
      where (t.usage->>'totalTokens')::bigint <> (
        select coalesce(sum((c.usage->>'totalTokens')::bigint), 0) from c where ${ofTurn('c')})`,
  },
  {
    name: 'I47',
    says: 'a tool was called as a recorded answer asked, under the number of that call',
    broken: `select t.id || ' call ' || c.seq from t join c on ${ofTurn('c')}
      where c.kind = 'tool' and not exists (
        select from c asked where ${ofTurn('asked')} and asked.kind = 'model' and asked.seq < c.seq
          and left(asked.output->'calls'->(c.seq - asked.seq - 1)->>'toolName', 200) = c.name)`,
  },
  {
    name: 'I47',
    says: 'the turn of a completed step is done, and its thread has its messages',
    broken: `select t.id from t join s on ${sameVisit('s', 't')}
      where s.status = 'completed' and (t.state <> 'done' or not exists (
        select from messages m where m.tenant_id = t.tenant_id and m.thread_id = t.thread_id))`,
  },
  {
    name: 'I47',
    says: 'an agent was handed a message by a recorded call of the turn above it',
    broken: `select t.id from t where t.root_id is not null and not exists (
      select from c asked where asked.tenant_id = t.tenant_id and asked.turn_id = regexp_replace(t.id, '-[0-9]+$', '')
        and asked.kind = 'model' and 'handoff_' || t.agent_id
          = asked.output->'calls'->(substring(t.id from '[0-9]+$')::int - asked.seq - 1)->>'toolName')`,
  },
]
