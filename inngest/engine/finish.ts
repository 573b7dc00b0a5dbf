import type { EngineContext } from './context'
import { rows } from './context'
import type { StepResult } from './protocol'

export interface Ending {
  runId: string
  status: 'completed' | 'failed' | 'cancelled'
  output: string
  steps: StepResult[]
  /** The claim that ends the run. Without one, the run is ended from outside, at any point. */
  fence?: { jobId: string; generation: string }
  /** Nothing else of this run can be in progress, so one statement suffices. */
  alone?: boolean
}

/**
 * Ends a run with its jobs and waits. False if it had already ended or the claim is stale. A separate job (`end`)
 * notifies everything that waits for the end, so a crash in between loses nothing.
 */
export async function endRun(ctx: EngineContext, ending: Ending): Promise<boolean> {
  const heard = await finishedIsHeard(ctx)
  const row = ending.alone
    ? await endNow(ctx, ending, heard)
    : await ctx.sql.begin(async (tx) => {
        // Only a statement that starts after the wait for this row sees what others inserted meanwhile.
        await tx`select 1 from engine.runs where id = ${ending.runId} for update`
        return await endNow({ ...ctx, sql: tx as unknown as EngineContext['sql'] }, ending, heard)
      })
  if (!row?.ended) return false
  ctx.scheduler.ended(ending.runId)
  if (row.told > 0) ctx.scheduler.wake()
  return true
}

async function endNow(
  ctx: EngineContext,
  { runId, status, output, steps, fence }: Ending,
  heard: boolean,
): Promise<{ ended: number; told: number } | undefined> {
  const { sql } = ctx
  const [row] = await sql<{ ended: number; told: number }[]>`
    with held as materialized (
      select id, function_id, parent_run_id from engine.runs where id = ${runId} and status = 'running' for update),
    mine as materialized (
      ${
        fence
          ? sql`delete from engine.jobs j using held h
              where j.id = ${fence.jobId} and j.generation = ${fence.generation}::bigint and j.run_id = h.id
              returning h.id, h.function_id, h.parent_run_id`
          : sql`select id, function_id, parent_run_id from held`
      }),
    ${
      steps.length > 0
        ? sql`kept as (
      insert into engine.steps (run_id, id, value)
      select mine.id, s.id, s.value from mine, json_to_recordset(${rows(ctx, steps)}) as s(id text, value text)
      on conflict do nothing),`
        : sql``
    }
    ended as (
      update engine.runs r set status = ${status}, output = ${output}, ended_at = ${ctx.at()}
      from mine where r.id = mine.id returning r.id),
    rest as (
      delete from engine.jobs j using mine
      where j.run_id = mine.id and j.kind <> 'end' ${fence ? sql`and j.id <> ${fence.jobId}` : sql``}),
    unwaited as (delete from engine.waits w using mine where w.run_id = mine.id),
    told as (
      insert into engine.jobs (id, run_id, function_id, kind, due_at)
      select mine.id || '.end', mine.id, mine.function_id, 'end', ${ctx.at()} from mine
      where ${status !== 'completed'}::boolean or mine.parent_run_id is not null
        or ${heard}::boolean
        or exists (select 1 from engine.waits where key = 'inngest/function.finished')
      on conflict do nothing returning id)
    select (select count(*)::int from ended) as ended, (select count(*)::int from told) as told`
  return row
}

/** Whether a function is triggered by the end of other functions. */
export async function finishedIsHeard(ctx: EngineContext): Promise<boolean> {
  for (const spec of (await ctx.specs()).values()) {
    if (spec.triggers.some(({ event }) => event === 'inngest/function.finished')) return true
  }
  return false
}
