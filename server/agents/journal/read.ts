import { and, eq, type SQL, sql } from 'drizzle-orm'
import { pauses } from '@/db/schema/runs'
import { agentCalls, agentTurns } from '@/db/schema/turns'
import type { ServiceContext } from '../../context'
import type { TurnAnswer, TurnAsked } from '../../definition/agent'
import { addUsage } from '../../models/call'
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
  /** The turns of the agents that it handed messages to, and those that they did, by id. */
  handOvers: ReadonlyMap<string, HandedOver>
  /** The answers that a part of the visit has taken, by the ids of the questions. */
  answers: ReadonlyMap<string, Answered>
  /** The sums of all these turns. */
  used: Pick<TurnRow, 'usage' | 'cost'>
}

/** The turn of an agent that was handed a message. */
export interface HandedOver {
  turn: TurnRow
  calls: Call[]
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
    select ${rowOf('t')} as turn, t.request as asked, t.answer, t.run_id as "runId", ${callsOf('t')} as calls,
      (select json_agg(json_build_object('turn', ${rowOf('h')}, 'calls', ${callsOf('h')}))
        from ${agentTurns} h where h.tenant_id = t.tenant_id and h.root_id = t.id) as "handOvers",
      (select json_agg(json_build_object('id', substring(p.id from '[^~]*$'), 'answer', p.answer, 'by', p.answered_by,
          'limit', p.signal->'limit'))
        from ${pauses} p
        where p.tenant_id = t.tenant_id and p.run_id = t.run_id and p.branch = t.branch and p.step_id = t.step_id
          and p.visit = t.visit and p.consumed_at is not null) as answers
    from ${agentTurns} t
    where t.tenant_id = ${ctx.tenantId} and ${which}`)
  if (!found) return null
  const { answers, handOvers, asked, answer, runId } = found
  const own = recorded(found)
  const below = (handOvers ?? []).map(recorded)
  return {
    ...own,
    ...{ asked, answer, runId },
    handOvers: new Map(below.map((one) => [one.turn.id, one])),
    answers: new Map(answers?.map(({ id, ...answered }) => [id, answered])),
    used: sumOf([own, ...below].map(({ turn }) => turn)),
  }
}

/** A turn of an alias as JSON. */
function rowOf(alias: string): SQL {
  return sql.raw(`json_build_object('id', ${alias}.id, 'rootId', ${alias}.root_id, 'agentId', ${alias}.agent_id,
        'version', ${alias}.version, 'handed', case when ${alias}.root_id is not null then ${alias}.request end, 'tools', ${alias}.tools, 'threadId', ${alias}.thread_id,
        'historyTo', ${alias}.history_to, 'state', ${alias}.state, 'errorCode', ${alias}.error_code,
        'usage', ${alias}.usage, 'cost', ${alias}.cost, 'startedAt', ${alias}.started_at)`)
}

function callsOf(alias: string): SQL {
  const turn = sql.raw(alias)
  return sql`(select json_agg(json_build_object('seq', c.seq, 'kind', c.kind, 'name', c.name, 'output', c.output, 'keyBase', c.key_base,
          'policy', c.policy, 'decision', c.decision, 'usage', c.usage, 'cost', c.cost, 'provider', c.provider,
          'fallback', c.fallback, 'tried', c.tried, 'errorCode', c.error_code, 'startedAt', c.started_at, 'endedAt', c.ended_at)
          order by c.seq)
        from ${agentCalls} c where c.tenant_id = ${turn}.tenant_id and c.turn_id = ${turn}.id)`
}

interface FoundTurn {
  turn: Omit<TurnRow, 'startedAt'> & { startedAt: string }
  /** Null without any. */
  calls: Call[] | null
}

interface Found extends FoundTurn {
  [column: string]: unknown
  asked: TurnAsked | null
  answer: TurnAnswer | null
  runId: string | null
  handOvers: FoundTurn[] | null
  answers: (Answered & { id: string })[] | null
}

function recorded({ turn, calls }: FoundTurn): HandedOver {
  return { turn: { ...turn, startedAt: new Date(turn.startedAt) }, calls: calls ?? [] }
}

function sumOf(turns: readonly Pick<TurnRow, 'usage' | 'cost'>[]): KnownTurn['used'] {
  return turns.reduce((sum, { usage, cost }) => ({
    usage: addUsage(sum.usage, usage),
    cost: cost === null ? sum.cost : (sum.cost ?? 0) + cost,
  }))
}

/** The latest attempt of a visit that recorded a call of its turn; 0 if none did. */
export async function furthestAttempt(
  { db, tenantId }: ServiceContext,
  { runId, branch, stepId, visit }: Pick<TurnAttempt, 'runId' | 'branch' | 'stepId' | 'visit'>,
): Promise<number> {
  const below = sql`(select max(h.attempt) from ${agentTurns} h
    where h.tenant_id = ${agentTurns.tenantId} and h.root_id = ${agentTurns.id})`
  const [found] = await db
    .select({ attempt: sql<number>`greatest(${agentTurns.attempt}, ${below})` })
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
