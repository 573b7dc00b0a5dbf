import { and, eq, type SQL, sql } from 'drizzle-orm'
import { pauses } from '@/db/schema/runs'
import { agentCalls, agentTurns } from '@/db/schema/turns'
import type { ServiceContext } from '../../context'
import type { TurnAnswer, TurnAsked } from '../../definition/agent'
import type { Answered } from '../decision'
import type { TurnAttempt } from './attempt'
import type { Call } from './call'
import type { TurnRow } from './record'

/** A turn that was begun before. */
export interface KnownTurn {
  turn: TurnRow
  /** What invoke or chat was asked, if they began it, and its answer. */
  asked: TurnAsked | null
  answer: TurnAnswer | null
  /** The run that has it. */
  runId: string | null
  calls: Call[]
  /** The answers to questions about calls that a part of the visit has taken, by the numbers of the calls. */
  answers: ReadonlyMap<number, Answered>
}

/** The turn of a visit with its calls, in one statement; null if none is recorded. */
export function readTurn(
  ctx: ServiceContext,
  { runId, branch, stepId, visit }: TurnAttempt,
): Promise<KnownTurn | null> {
  return readTurnBy(
    ctx,
    sql`t.run_id = ${runId} and t.branch = ${branch} and t.step_id = ${stepId} and t.visit = ${visit}`,
  )
}

/** The turn of a request with an `Idempotency-Key`, likewise. */
export function readKeyedTurn(ctx: ServiceContext, key: string): Promise<KnownTurn | null> {
  return readTurnBy(ctx, sql`t.key = ${key}`)
}

async function readTurnBy(ctx: ServiceContext, which: SQL): Promise<KnownTurn | null> {
  const [found] = await ctx.db.execute<Found>(sql`
    select json_build_object('id', t.id, 'agentId', t.agent_id, 'version', t.version,
        'tools', t.tools, 'threadId', t.thread_id, 'historyTo', t.history_to, 'state', t.state,
        'errorCode', t.error_code, 'usage', t.usage, 'cost', t.cost, 'startedAt', t.started_at) as turn,
      t.request as asked, t.answer, t.run_id as "runId",
      (select json_agg(json_build_object('seq', c.seq, 'kind', c.kind, 'name', c.name, 'output', c.output, 'keyBase', c.key_base,
          'policy', c.policy, 'decision', c.decision, 'usage', c.usage, 'cost', c.cost, 'provider', c.provider,
          'fallback', c.fallback, 'tried', c.tried, 'errorCode', c.error_code, 'startedAt', c.started_at, 'endedAt', c.ended_at)
          order by c.seq)
        from ${agentCalls} c where c.tenant_id = t.tenant_id and c.turn_id = t.id) as calls,
      (select json_agg(json_build_object('seq', substring(p.id from '[^~]*$')::int, 'answer', p.answer, 'by', p.answered_by,
          'limit', p.signal->'limit'))
        from ${pauses} p
        where p.tenant_id = t.tenant_id and p.run_id = t.run_id and p.branch = t.branch and p.step_id = t.step_id
          and p.visit = t.visit and p.consumed_at is not null) as answers
    from ${agentTurns} t
    where t.tenant_id = ${ctx.tenantId} and ${which}`)
  if (!found) return null
  const { turn, calls, answers, asked, answer, runId } = found
  return {
    turn: { ...turn, startedAt: new Date(turn.startedAt) },
    ...{ asked, answer, runId },
    calls: calls ?? [],
    answers: new Map(answers?.map(({ seq, ...answered }) => [seq, answered])),
  }
}

interface Found {
  [column: string]: unknown
  turn: Omit<TurnRow, 'startedAt'> & { startedAt: string }
  asked: TurnAsked | null
  answer: TurnAnswer | null
  runId: string | null
  /** Null without any. */
  calls: Call[] | null
  answers: (Answered & { seq: number })[] | null
}

/** The latest attempt of a visit that recorded a call of its turn; 0 if none did. */
export async function furthestAttempt(
  { db, tenantId }: ServiceContext,
  { runId, branch, stepId, visit }: Pick<TurnAttempt, 'runId' | 'branch' | 'stepId' | 'visit'>,
): Promise<number> {
  const { attempt } = agentTurns
  const [found] = await db
    .select({ attempt })
    .from(agentTurns)
    .where(
      and(
        eq(agentTurns.tenantId, tenantId),
        eq(agentTurns.runId, runId),
        eq(agentTurns.branch, branch),
        eq(agentTurns.stepId, stepId),
        eq(agentTurns.visit, visit),
      ),
    )
  return found?.attempt ?? 0
}
