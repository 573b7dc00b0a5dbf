import { publishAgent, updateAgent } from '@/server/agents/lifecycle'
import type { ServiceContext } from '@/server/context'
import { newId } from '@/server/ids'
import { setVaultSecret } from '@/server/vault/set'
import { countAllDays } from '@/server/views/insights/days'
import { createWebhook } from '@/server/webhooks/create'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
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
/** Per million tokens. */
const PRICES = { input: 3, output: 15 }
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * A month's history of a furnished workspace, for charts and long lists: purchases with a decision, refunds, some of
 * them failed, and messages that agents read. Always the same, and before all other data. These runs have no page worth
 * showing.
 */
export async function addHistory(
  { ctx, tenantId, owner }: Workspace,
  { approval, refund, triage, agent, supervisor, webhook, completed, deciding, asking }: Furnished,
): Promise<void> {
  const { sql } = database()
  await takeTime(tenantId, completed, { started: 46, ordered: 40, decided: 9 })
  await takeTime(tenantId, deciding, { started: 27, ordered: 21 })
  await takeTime(tenantId, asking, { started: 64 })
  await giveModel(ctx, [agent, supervisor])
  const questions = await questionsTo(ctx, supervisor)
  // Old tasks send no notifications.
  await sql`update webhook_endpoints set enabled = false where tenant_id = ${tenantId}`
  const runs = Array.from({ length: RUNS }, (_, n) => {
    const kind = n % 3 === 0 ? 'refund' : 'approval'
    // More during the day, fewer on every seventh day, and slower in the middle of the month.
    const daysAgo = 0.3 + (29.5 * n) / RUNS + (n % 7) / 50
    const slow = 1 + Math.sin(daysAgo / 4) ** 2
    const waited = kind === 'approval' ? slow * (4 + ((n * 37) % 50)) * 60_000 : 0
    const outcome = kind === 'refund' && n % 15 === 0 ? 'failed' : n % 29 === 0 ? 'cancelled' : 'succeeded'
    const ms = waited + slow * (700 + ((n * 53) % 900))
    const key = kind === 'refund' ? `N-${20_400 - n}` : CUSTOMERS[n % CUSTOMERS.length]
    return { id: idOf(daysAgo), kind, daysAgo, waited, outcome, ms, key }
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
    select tenant_id, p.id, 'main', 'pay_back', 1, 'call-tool', 'Pay back', 'failed', start_time, end_time, error->>'code'
    from jsonb_to_recordset(${json}::text::jsonb) as r(id text) join runs p on p.tenant_id = ${tenantId} and p.id = r.id
    where p.outcome = 'failed'`
  const signal = {
    type: 'request_user_action',
    stepId: 'decision',
    title: 'Order of AX-210',
    actions: [
      { id: 'approve', label: 'Approve' },
      { id: 'reject', label: 'Reject' },
    ],
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
  // Customers' messages, more on some days than on others, which two agents answered.
  const tickets = Array.from({ length: 90 }, (_, n) => {
    const daysAgo = 0.2 + n / 3.1 + Math.sin(n) / 3
    const sorting = { workflow: triage, name: 'Ticket triage', step: 'Read the message', agent }
    const asking = { workflow: questions, name: 'Customer questions', step: 'Answer the customer', agent: supervisor }
    const tokens = { input: 600 + ((n * 131) % 900), output: 60 + ((n * 17) % 90) }
    return { id: idOf(daysAgo), daysAgo, ...(n % 4 === 0 ? asking : sorting), ...tokens }
  })
  const read = JSON.stringify(tickets)
  await sql`
    insert into runs (tenant_id, id, workflow_id, workflow_version, workflow_name, status, outcome, input, data, started_by,
      started_via, start_time, end_time)
    select ${tenantId}, r.id, r.workflow, 1, r.name, 'completed', 'succeeded', '{}', '{}', ${owner.userId}, 'user',
      now() - r."daysAgo" * interval '1 day', now() - r."daysAgo" * interval '1 day' + interval '3 s'
    from jsonb_to_recordset(${read}::text::jsonb) as r(id text, "daysAgo" float8, workflow text, name text)`
  await sql`
    insert into step_records (tenant_id, run_id, branch, step_id, visit, step_type, step_name, status, start_time, end_time,
      input_data, usage)
    select ${tenantId}, p.id, 'main', 'read', 1, 'call-agent', r.step, 'completed', p.start_time, p.end_time,
      jsonb_build_object('agentId', r.agent), jsonb_build_object(
        'usage', jsonb_build_object('inputTokens', r.input, 'outputTokens', r.output, 'totalTokens', r.input + r.output),
        'cost', round((r.input * ${PRICES.input}::float8 + r.output * ${PRICES.output}::float8)::numeric / 1000000, 6))
    from jsonb_to_recordset(${read}::text::jsonb) as r(id text, step text, agent text, input int, output int)
      join runs p on p.tenant_id = ${tenantId} and p.id = r.id`
  // Each of these answers was one call; in chats the agents were asked twice as often.
  await sql`
    insert into usage_days as d (tenant_id, day, kind, key, calls, input, cached, output, cost)
    select ${tenantId}, ((now() - r."daysAgo" * interval '1 day') at time zone 'UTC')::date as of_day, k.kind, k.key,
      3 * count(*), 3 * sum(r.input), 0, 3 * sum(r.output),
      3 * sum(r.input * ${PRICES.input}::float8 + r.output * ${PRICES.output}::float8) / 1000000
    from jsonb_to_recordset(${read}::text::jsonb) as r("daysAgo" float8, agent text, input int, output int)
      cross join (values ('agent'), ('workspace')) as kinds(kind)
      cross join lateral (select kinds.kind, case kinds.kind when 'agent' then r.agent else '' end as key) k
    group by of_day, k.kind, k.key
    on conflict (tenant_id, day, kind, key) do update set calls = d.calls + excluded.calls,
      input = d.input + excluded.input, output = d.output + excluded.output, cost = d.cost + excluded.cost`
  await sql`update webhook_endpoints set enabled = true where tenant_id = ${tenantId}`
  await sql`update webhook_endpoints set url = 'https://orders.northwind.example/hooks' where id = ${webhook}`
  await addAccounting(ctx)
  // Otherwise the first page with charts reports that some days are still being counted.
  for (let whole = false; !whole; ) whole = await countAllDays(ctx)
}

/**
 * Moves a purchase's events into the past, since people take minutes and not milliseconds.
 * @param ago how many minutes ago it was started, its form filled in, and its decision made
 */
async function takeTime(
  tenantId: string,
  runId: string,
  { started, ordered = 0, decided = 0 }: { started: number; ordered?: number; decided?: number },
): Promise<void> {
  const { sql } = database()
  const json = JSON.stringify([
    { step: 'order', began: started, ended: ordered },
    { step: 'stock', began: ordered, ended: ordered },
    { step: 'decision', began: ordered, ended: decided },
    { step: 'done', began: decided, ended: decided },
  ])
  const steps = sql`jsonb_to_recordset(${json}::text::jsonb) as s(step text, began float8, ended float8)`
  await sql`
    update runs set start_time = start_time - ${started}::float8 * interval '1 minute',
      end_time = end_time - ${decided}::float8 * interval '1 minute'
    where tenant_id = ${tenantId} and id = ${runId}`
  await sql`
    update step_records r set start_time = r.start_time - s.began * interval '1 minute',
      end_time = r.end_time - s.ended * interval '1 minute',
      attempts = (
        select coalesce(jsonb_agg(a || jsonb_build_object(
          'startTime', (a->>'startTime')::timestamptz - s.began * interval '1 minute',
          'endTime', (a->>'endTime')::timestamptz - s.ended * interval '1 minute')), '[]')
        from jsonb_array_elements(r.attempts) a)
    from ${steps} where r.tenant_id = ${tenantId} and r.run_id = ${runId} and r.step_id = s.step`
  await sql`
    update pauses p set created_at = p.created_at - s.began * interval '1 minute',
      answered_at = p.answered_at - s.ended * interval '1 minute',
      consumed_at = p.consumed_at - s.ended * interval '1 minute'
    from ${steps} where p.tenant_id = ${tenantId} and p.run_id = ${runId} and p.step_id = s.step`
}

/** An id that sorts to its time, like the product's own. */
function idOf(daysAgo: number): string {
  const at = Math.round(Date.now() - daysAgo * 24 * 60 * 60_000)
  const time = Array.from({ length: 10 }, (_, place) => ALPHABET[Math.floor(at / 32 ** (9 - place)) % 32]).join('')
  return `run_${time}${newId('run').slice(-16)}`
}

/** Gives the agents a model with the price of their answers. No page calls it: the scripted one has answered before. */
async function giveModel(ctx: ServiceContext, agents: string[]): Promise<void> {
  await setVaultSecret(ctx, { name: 'ANTHROPIC_API_KEY', value: 'not-a-real-key-5512', hosts: ['api.anthropic.com'] })
  const model = { provider: 'anthropic', modelId: 'claude-sonnet-5', settings: {}, prices: PRICES }
  for (const id of agents) {
    await updateAgent(ctx, { id, body: { model } })
    await publishAgent(ctx, { id })
  }
}

async function questionsTo(ctx: ServiceContext, agentId: string): Promise<string> {
  const { id } = await createWorkflow(ctx, {
    name: 'Customer questions',
    description: 'The front desk answers what a customer asks.',
    payload: { text: { type: 'string', description: 'What the customer asks' } },
    steps: [
      {
        ...{ id: 'read', type: 'call-agent', name: 'Answer the customer', agentId, version: 'published' },
        ...{ message: '${text}', saveAs: 'answer' },
      },
      { id: 'done', type: 'end-flow', name: 'Answered', output: { answer: '${answer}' } },
    ],
    edges: [{ from: 'read', to: 'done' }],
  })
  await publishWorkflow(ctx, { id })
  return id
}

/** A webhook that received an event of every run. */
async function addAccounting(ctx: ServiceContext): Promise<void> {
  const { sql } = database()
  const events = ['run.completed', 'run.failed']
  const url = 'https://accounting.northwind.example/hooks'
  const { id } = await createWebhook(ctx, { url, description: 'Accounting', events })
  await sql`
    insert into webhook_deliveries (tenant_id, id, endpoint_id, type, run_id, status, tries, attempts, due_at, created_at,
      ended_at)
    select tenant_id, 'msg_' || replace(gen_random_uuid()::text, '-', ''), ${id},
      case outcome when 'succeeded' then 'run.completed' else 'run.failed' end, id, 'delivered', 1,
      jsonb_build_array(jsonb_build_object('at', to_json(end_time), 'durationMs', 60 + extract(second from end_time)::int,
        'status', 200, 'error', null, 'response', 'ok')), end_time, end_time, end_time
    from runs where tenant_id = ${ctx.tenantId} and outcome in ('succeeded', 'failed') order by end_time`
  await sql`update webhook_endpoints set delivered_at = now() where id = ${id}`
}
