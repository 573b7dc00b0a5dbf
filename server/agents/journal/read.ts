import { sql } from 'drizzle-orm'
import { agentCalls, agentTurns } from '@/db/schema/turns'
import type { ServiceContext } from '../../context'
import type { TurnAttempt } from './attempt'
import type { Call } from './call'
import type { TurnRow } from './record'

/** A turn that an earlier attempt began. */
export interface KnownTurn {
  turn: TurnRow
  calls: Call[]
}

/** The turn of a visit with its calls, in one statement; null if none is recorded. */
export async function readTurn(
  ctx: ServiceContext,
  { runId, branch, stepId, visit }: TurnAttempt,
): Promise<KnownTurn | null> {
  const [found] = await ctx.db.execute<{ turn: Omit<TurnRow, 'startedAt'> & { startedAt: string }; calls: Call[] }>(sql`
    select json_build_object('id', t.id, 'agentId', t.agent_id, 'version', t.version,
        'tools', t.tools, 'threadId', t.thread_id, 'historyTo', t.history_to, 'state', t.state,
        'errorCode', t.error_code, 'usage', t.usage, 'cost', t.cost, 'startedAt', t.started_at) as turn,
      (select json_agg(json_build_object('seq', c.seq, 'kind', c.kind, 'name', c.name, 'output', c.output, 'keyBase', c.key_base,
          'policy', c.policy, 'usage', c.usage, 'cost', c.cost, 'provider', c.provider, 'fallback', c.fallback, 'tried', c.tried,
          'errorCode', c.error_code, 'startedAt', c.started_at, 'endedAt', c.ended_at)
          order by c.seq)
        from ${agentCalls} c where c.tenant_id = t.tenant_id and c.turn_id = t.id) as calls
    from ${agentTurns} t
    where t.tenant_id = ${ctx.tenantId} and t.run_id = ${runId} and t.branch = ${branch} and t.step_id = ${stepId}
      and t.visit = ${visit}`)
  if (!found) return null
  return { turn: { ...found.turn, startedAt: new Date(found.turn.startedAt) }, calls: found.calls }
}
