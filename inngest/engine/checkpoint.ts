import type { EngineContext } from './context'
import { rows } from './context'
import type { StepResult } from './protocol'

/**
 * Stores results of a call that continues. False if the claim is stale or the run has ended. `stopping` gives up the
 * claim in the same statement, so that another process continues after this step.
 */
export async function keepResults(
  ctx: EngineContext,
  claim: { jobId: string; generation: string; runId: string },
  steps: readonly StepResult[],
  stopping: boolean,
): Promise<boolean> {
  const { sql } = ctx
  const [first] = steps
  const values =
    steps.length === 1 && first
      ? sql`(values (${first.id}::text, ${first.value}::text)) as s(id, value)`
      : sql`json_to_recordset(${rows(ctx, steps)}) as s(id text, value text)`
  const [row] = await sql<{ held: number }[]>`
    with held as (
      update engine.jobs j
      set attempt = 0, deliveries = 0
        ${stopping ? sql`, owner = null, generation = nextval('engine.generation'), due_at = ${ctx.at()}` : sql``}
      where j.id = ${claim.jobId} and j.generation = ${claim.generation}::bigint and j.run_id = ${claim.runId}
        and exists (select 1 from engine.runs r where r.id = j.run_id and r.status = 'running')
      returning j.run_id),
    kept as (
      insert into engine.steps (run_id, id, value) select held.run_id, s.id, s.value from held, ${values}
      on conflict do nothing)
    select count(*)::int as held from held`
  return row?.held === 1
}
