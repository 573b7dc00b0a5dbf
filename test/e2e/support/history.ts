import { countAllDays } from '@/server/views/insights/days'
import type { Furnished } from './furnish'
import { database, type Workspace } from './workspace'

const CUSTOMERS = [
  'Okafor and Sons',
  'Baker Street Books',
  'Lindqvist AB',
  'Rossi Ceramics',
  'Harbour Café',
  'Nakamura',
]
const RUNS = 220

/**
 * A month in which a furnished workspace was used, for charts and long lists: purchases that somebody decided, and refunds of
 * which some failed, and messages that agents read. Always the same one, and before everything that was furnished. These runs have no page worth showing.
 */
export async function addHistory(
  { ctx, tenantId, owner }: Workspace,
  { approval, refund, triage, agent, supervisor }: Furnished,
): Promise<void> {
  const { sql } = database()
  const runs = Array.from({ length: RUNS }, (_, n) => {
    const kind = n % 3 === 0 ? 'refund' : 'approval'
    // More during the day, fewer on every seventh one, and slower in the middle of the month.
    const daysAgo = 0.3 + (29.5 * n) / RUNS + (n % 7) / 50
    const slow = 1 + Math.sin(daysAgo / 4) ** 2
    const waited = kind === 'approval' ? slow * (4 + ((n * 37) % 50)) * 60_000 : 0
    const outcome = kind === 'refund' && n % 15 === 0 ? 'failed' : n % 29 === 0 ? 'cancelled' : 'succeeded'
    const ms = waited + slow * (700 + ((n * 53) % 900))
    const key = kind === 'refund' ? `N-${20_400 - n}` : CUSTOMERS[n % CUSTOMERS.length]
    return { id: `run_PAST${String(n).padStart(4, '0')}`, kind, daysAgo, waited, outcome, ms, key }
  })
  const json = JSON.stringify(runs)
  const error = {
    code: 'EXECUTION_ERROR',
    message: 'The payment provider declined: the card has expired.',
    stepId: 'pay_back',
  }
  await sql`
    insert into runs (tenant_id, id, workflow_id, workflow_version, workflow_name, status, outcome, business_key, input, data,
      error, started_by, started_via, start_time, end_time)
    select ${tenantId}, r.id, case r.kind when 'refund' then ${refund} else ${approval} end, 1,
      case r.kind when 'refund' then 'Refund' else 'Purchase approval' end,
      case r.outcome when 'succeeded' then 'completed' else 'failed' end, r.outcome, r.key, '{}', '{}',
      case r.outcome when 'failed' then ${JSON.stringify(error)}::jsonb end, ${owner.userId}, 'user',
      now() - r."daysAgo" * interval '1 day', now() - r."daysAgo" * interval '1 day' + r.ms * interval '1 ms'
    from jsonb_to_recordset(${json}::text::jsonb)
      as r(id text, kind text, "daysAgo" float8, outcome text, ms float8, key text)`
  await sql`
    insert into step_records (tenant_id, run_id, branch, step_id, visit, step_type, step_name, status, start_time, end_time,
      error_code)
    select tenant_id, id, 'main', 'pay_back', 1, 'call-tool', 'Pay back', 'failed', start_time, end_time, error->>'code'
    from runs where tenant_id = ${tenantId} and id like 'run_PAST%' and outcome = 'failed'`
  const signal = {
    type: 'request_user_action',
    stepId: 'decision',
    title: 'Order of AX-210',
    actions: [{ id: 'approve', label: 'Approve' }],
  }
  await sql`
    insert into pauses (tenant_id, id, run_id, branch, step_id, visit, kind, signal, created_at, answered_at, answer,
      answered_by, consumed_at)
    select ${tenantId}, 'main:decision#1', p.id, 'main', 'decision', 1, 'request_user_action',
      ${JSON.stringify(signal)}::jsonb, p.end_time - r.waited * interval '1 ms', p.end_time,
      '{"actionId": "approve", "actionValue": "approve"}', ${owner.userId}, p.end_time
    from jsonb_to_recordset(${json}::text::jsonb) as r(id text, waited float8)
      join runs p on p.tenant_id = ${tenantId} and p.id = r.id
    where r.waited > 0`
  // Messages of customers, more on some days than on others, which two agents answered.
  const tickets = Array.from({ length: 90 }, (_, n) => ({
    id: `run_READ${String(n).padStart(4, '0')}`,
    daysAgo: 0.2 + n / 3.1 + Math.sin(n) / 3,
    agent: n % 4 === 0 ? supervisor : agent,
    input: 600 + ((n * 131) % 900),
    output: 60 + ((n * 17) % 90),
  }))
  const read = JSON.stringify(tickets)
  await sql`
    insert into runs (tenant_id, id, workflow_id, workflow_version, workflow_name, status, outcome, input, data, started_by,
      started_via, start_time, end_time)
    select ${tenantId}, r.id, ${triage}, 1, 'Ticket triage', 'completed', 'succeeded', '{}', '{}', ${owner.userId}, 'user',
      now() - r."daysAgo" * interval '1 day', now() - r."daysAgo" * interval '1 day' + interval '3 s'
    from jsonb_to_recordset(${read}::text::jsonb) as r(id text, "daysAgo" float8)`
  await sql`
    insert into step_records (tenant_id, run_id, branch, step_id, visit, step_type, step_name, status, start_time, end_time,
      input_data, usage)
    select ${tenantId}, p.id, 'main', 'read', 1, 'call-agent', 'Read the message', 'completed', p.start_time, p.end_time,
      jsonb_build_object('agentId', r.agent), jsonb_build_object(
        'usage', jsonb_build_object('inputTokens', r.input, 'outputTokens', r.output, 'totalTokens', r.input + r.output),
        'cost', round((r.input * 0.000003 + r.output * 0.000015)::numeric, 6))
    from jsonb_to_recordset(${read}::text::jsonb) as r(id text, agent text, input int, output int)
      join runs p on p.tenant_id = ${tenantId} and p.id = r.id`
  // Otherwise the first page with charts says that some days are still being counted.
  for (let whole = false; !whole; ) whole = await countAllDays(ctx)
}
