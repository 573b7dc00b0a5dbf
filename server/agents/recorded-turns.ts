import { and, eq, type SQL, sql } from 'drizzle-orm'
import { runs, stepRecords } from '@/db/schema/runs'
import { agentTurns } from '@/db/schema/turns'
import { actsForTenant, runsInReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import type { TurnAnswer, Usage } from '../definition/agent'
import { placeIn } from '../definition/branches'
import { handedOver } from './journal/key'

/** A turn, with the visit that it is of; null outside of runs. */
export type RecordedTurn = {
  id: string
  agentId: string
  version: number
  /** What began it. */
  via: 'run' | 'invoke' | 'chat' | 'handoff'
  runId: string | null
  workflowId: string | null
  workflowName: string | null
  stepId: string | null
  stepName: string | null
  /** The number of the visit's record. */
  record: number | null
  visit: number | null
  branch: string | null
  threadId: string | null
  state: 'working' | 'waiting' | 'done' | 'failed'
  errorCode: string | null
  usage: Usage
  cost: number | null
  /** Of invoke and chat, once there is one. */
  answer: TurnAnswer | null
  startedAt: string
  endedAt: string | null
  /** Its place in the order of turns. */
  began: string
}

/**
 * The turns that the caller may read, newest first. A turn of a run that was cut short has failed once its visit has
 * ended; until then another attempt may continue it. An agent that was handed a message belongs to the run or the caller
 * of the turn that a step or a caller began.
 * @param where which ones, by `t`
 */
export async function readRecordedTurns(ctx: ServiceContext, where: SQL, limit: number): Promise<RecordedTurn[]> {
  const own = ownRuns(ctx)
  const visible = and(eq(runs.tenantId, ctx.tenantId), runsInReach(ctx), own)
  // A subject has few turns, so they are found by its runs and its own requests.
  const mine = own
    ? sql`and t.id in (
        with own as (
          select a.id from ${agentTurns} a where a.tenant_id = ${ctx.tenantId} and a.subject = ${ctx.actor.id}
          union all
          select a.id from ${runs} join ${agentTurns} a on a.tenant_id = ${runs.tenantId} and a.run_id = ${runs.id}
          where ${visible})
        select id from own union all
        select h.id from own join ${agentTurns} h on h.tenant_id = ${ctx.tenantId} and h.root_id = own.id)`
    : sql``
  // Those of invoke and chat are their caller's, in a run as well.
  const asked = own ? sql`p.request is not null and p.subject = ${ctx.actor.id}` : sql`p.request is not null`
  return ctx.db.execute<RecordedTurn>(sql`
    select t.id, t.agent_id as "agentId", t.version, p.run_id as "runId", r.workflow_id as "workflowId", ${VIA} as via,
      r.workflow_name as "workflowName", p.step_id as "stepId", s.step_name as "stepName", s.seq::float8 as record,
      p.visit, p.branch, t.thread_id as "threadId", t.usage, nullif(t.cost, 'NaN') as cost, t.answer,
      case when t.root_id is null then root.state when t.state in ('done', 'failed') then t.state
        when root.state = 'done' then 'failed' else root.state end as state,
      case when t.root_id is not null and t.state = 'failed' then t.error_code
        when t.state <> 'done' and (s.end_time is not null or p.run_id is null)
        then coalesce(t.error_code, p.error_code, s.error_code) end as "errorCode",
      greatest(t.started_at, s.start_time) as "startedAt", t.started_at as began,
      case when t.root_id is not null then coalesce(t.ended_at, s.end_time, p.ended_at)
        when t.state = 'done' or t.run_id is null then t.ended_at else s.end_time end as "endedAt"
    from ${agentTurns} t
      join ${agentTurns} p on p.tenant_id = t.tenant_id and p.id = coalesce(t.root_id, t.id)
      left join ${stepRecords} s on s.tenant_id = p.tenant_id and s.run_id = p.run_id and s.branch = p.branch
        and s.step_id = p.step_id and s.visit = p.visit
      left join lateral (select ${runs.workflowId}, ${runs.workflowName}, ${runs.endTime} is not null as ended from ${runs} where ${visible} and ${runs.id} = p.run_id offset 0) r on true
      cross join lateral (select ${STATE} as state) root
    where t.tenant_id = ${ctx.tenantId} and (r.workflow_id is not null or ${asked}) and ${where} ${mine}
    order by t.started_at desc, t.id desc limit ${limit}`)
}

/** What began the turn `t`; `p` is the turn that a step or a caller began. */
const VIA = sql`case when t.root_id is not null then 'handoff' when t.request is null then 'run'
        when (t.request->>'structured')::boolean then 'invoke' else 'chat' end`

/** The state of `p`; its visit is `s`, its run `r`. */
const STATE = sql`case when p.state in ('done', 'failed') and s.seq is null then p.state
        when p.state = 'done' then 'done' when s.end_time is not null then 'failed'
        when p.run_id is not null and s.seq is null then case when r.ended then 'failed' else p.state end
        when s.attempts->-1->>'part' = 'asks' and s.attempt = (s.attempts->-1->>'attempt')::int then 'waiting'
        else 'working' end`

/** Tokens read the turns of runs that they started; undefined for everybody else. */
function ownRuns(ctx: ServiceContext): SQL | undefined {
  return actsForTenant(ctx) ? undefined : and(eq(runs.startedVia, 'jwt'), eq(runs.startedBy, ctx.actor.id))
}

export function presentTurn(turn: RecordedTurn) {
  const { began: _began, record: _record, workflowName: _workflow, stepName: _step, answer: _answer, ...shown } = turn
  const { branch, startedAt, endedAt, ...rest } = shown
  return {
    ...{ ...rest, ...handedOver(turn.id), ...(branch === null ? {} : placeIn(branch)) },
    startedAt: new Date(startedAt).toISOString(),
    endedAt: endedAt === null ? null : new Date(endedAt).toISOString(),
  }
}

/** The answer as its caller gets it. */
export function presentAnswer({ answer, threadId, via }: RecordedTurn) {
  if (answer === null || threadId === null) return null
  const { data, text, metadata } = answer
  if (via === 'invoke') return { data: data ?? {}, threadId, metadata }
  return { message: text, threadId, usage: metadata.usage, metadata }
}
