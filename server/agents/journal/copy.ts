import { sql } from 'drizzle-orm'
import { agentCalls, agentTurns } from '@/db/schema/turns'
import type { TransactionContext } from '../../context'
import { newId } from '../../ids'
import { NO_USAGE } from '../../models/call'

interface Copied {
  /** The runs. */
  from: string
  to: string
  branch: string
  stepId: string
  /** The idempotency key of a visit of the step in the first run. */
  keyOf: (visit: number) => string
}

type Cut = { id: string; visit: number }

/**
 * Gives a run the turn of an earlier one, if it was cut short at the latest visit of the step. Its calls are not made
 * again, and those that were asked for keep their keys. They cost nothing here. Which of them need a decision is
 * decided anew, by the present version of the agent. A turn that came to its end is not
 * copied: its model would answer the same again. Nothing is below it: a step calls no supervisor.
 */
export async function copyTurn(tx: TransactionContext, { from, to, branch, stepId, keyOf }: Copied): Promise<void> {
  const [cut] = await tx.db.execute<Cut>(sql`
    select id, visit from ${agentTurns}
    where tenant_id = ${tx.tenantId} and run_id = ${from} and branch = ${branch} and step_id = ${stepId}
      and state <> 'done' and error_code is distinct from 'OUTPUT_SCHEMA_MISMATCH'
      and visit = (select max(visit) from step_records
        where tenant_id = ${tx.tenantId} and run_id = ${from} and branch = ${branch} and step_id = ${stepId})`)
  if (!cut) return
  const id = newId('trn')
  await tx.db.execute(sql`
    with turn as (
      insert into ${agentTurns} (tenant_id, id, run_id, branch, step_id, visit, agent_id, version, thread_id, history_to,
        request, subject, state, usage, started_at)
      select tenant_id, ${id}, ${to}, branch, step_id, visit, agent_id, version, thread_id, history_to, request, subject,
        'working',
        ${JSON.stringify(NO_USAGE)}::jsonb, ${tx.now().toISOString()}::timestamptz
      from ${agentTurns} where tenant_id = ${tx.tenantId} and id = ${cut.id})
    insert into ${agentCalls} (tenant_id, turn_id, seq, kind, name, provider, fallback, output, error_code, key_base,
      started_at, ended_at)
    select tenant_id, ${id}, seq, kind, name, provider, fallback, output, error_code,
      case when kind = 'model' then coalesce(key_base, ${keyOf(cut.visit)}) end, started_at, ended_at
    from ${agentCalls} where tenant_id = ${tx.tenantId} and turn_id = ${cut.id} order by seq`)
}
