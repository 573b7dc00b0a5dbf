import { and, eq, type SQL, sql } from 'drizzle-orm'
import { runs, stepRecords } from '@/db/schema/runs'
import { agentTurns } from '@/db/schema/turns'
import { runsInReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import type { Usage } from '../definition/agent'
import { placeIn } from '../definition/branches'
import { actsForTenant } from './thread'

/** A turn in a run, with the visit that it is of. */
export type RecordedTurn = {
  id: string
  agentId: string
  version: number
  runId: string
  workflowId: string
  workflowName: string
  stepId: string
  stepName: string
  /** The number of the visit's record. */
  record: number
  visit: number
  branch: string
  threadId: string | null
  state: 'working' | 'done' | 'failed'
  errorCode: string | null
  usage: Usage
  cost: number | null
  startedAt: string
  endedAt: string | null
  /** Its place in the order of turns. */
  began: string
}

/**
 * The turns in runs that the caller may read, newest first. A turn that was cut short has failed once its visit has
 * ended; until then another attempt may continue it.
 * @param where which ones, by `t`
 */
export async function readRecordedTurns(ctx: ServiceContext, where: SQL, limit: number): Promise<RecordedTurn[]> {
  const own = ownRuns(ctx)
  const visible = and(eq(runs.tenantId, ctx.tenantId), runsInReach(ctx), own)
  // A lookup for each turn; but a subject has few runs, so theirs are read first.
  const each = own ? sql`` : sql`offset 0`
  return ctx.db.execute<RecordedTurn>(sql`
    select t.id, t.agent_id as "agentId", t.version, t.run_id as "runId", r.workflow_id as "workflowId",
      r.workflow_name as "workflowName", t.step_id as "stepId", s.step_name as "stepName", s.seq::float8 as record,
      t.visit, t.branch, t.thread_id as "threadId", t.usage, nullif(t.cost, 'NaN') as cost,
      case when t.state = 'done' then 'done' when s.end_time is not null then 'failed'
        when s.attempts->-1->>'part' = 'asks' and s.attempt = (s.attempts->-1->>'attempt')::int then 'waiting'
        else 'working' end as state,
      case when t.state <> 'done' and s.end_time is not null then coalesce(t.error_code, s.error_code) end as "errorCode",
      greatest(t.started_at, s.start_time) as "startedAt", t.started_at as began,
      case when t.state = 'done' then t.ended_at else s.end_time end as "endedAt"
    from ${agentTurns} t
      join ${stepRecords} s on s.tenant_id = t.tenant_id and s.run_id = t.run_id and s.branch = t.branch
        and s.step_id = t.step_id and s.visit = t.visit
      join lateral (select ${runs.workflowId}, ${runs.workflowName} from ${runs} where ${visible} and ${runs.id} = t.run_id ${each}) r on true
    where t.tenant_id = ${ctx.tenantId} and ${where}
    order by t.started_at desc, t.id desc limit ${limit}`)
}

/** Tokens read the turns of runs that they started; undefined for everybody else. */
function ownRuns(ctx: ServiceContext): SQL | undefined {
  return actsForTenant(ctx) ? undefined : and(eq(runs.startedVia, 'jwt'), eq(runs.startedBy, ctx.actor.id))
}

export function presentTurn(turn: RecordedTurn) {
  const { began: _began, record: _record, workflowName: _workflow, stepName: _step, ...shown } = turn
  const { branch, startedAt, endedAt, ...rest } = shown
  return {
    ...{ ...rest, ...placeIn(branch), startedAt: new Date(startedAt).toISOString() },
    endedAt: endedAt === null ? null : new Date(endedAt).toISOString(),
  }
}
