import type { Claim, EngineContext } from './context'
import { after } from './context'

/** Releases every claim of this process so that any process can continue the work immediately. */
export async function releaseClaims(ctx: EngineContext): Promise<void> {
  await ctx.sql`
    with released as (
      update engine.jobs set owner = null, due_at = ${ctx.at()} where owner = ${ctx.bootId}),
    left_work as (delete from engine.workers where boot_id = ${ctx.bootId})
    select pg_notify('engine', '')`
}

export async function releaseClaim(ctx: EngineContext, claim: Claim): Promise<void> {
  await ctx.sql`
    with released as (
      update engine.jobs set owner = null, due_at = ${ctx.at()}
      where id = ${claim.jobId} and generation = ${claim.generation}::bigint)
    select pg_notify('engine', '')`
}

/** Frees the slot of a job that could not be processed. The job counts as lost and returns after a growing delay. */
export async function deliverLater(ctx: EngineContext, claim: Claim): Promise<void> {
  const delayMs = Math.min(5 * 60_000, 1000 * 4 ** claim.deliveries)
  await ctx.sql`
    update engine.jobs set owner = null, deliveries = deliveries + 1, due_at = ${after(ctx, delayMs)}
    where id = ${claim.jobId} and generation = ${claim.generation}::bigint`
  ctx.scheduler.dueIn(delayMs)
}

/** Removes a job that has nothing to do. */
export async function dropJob(ctx: EngineContext, claim: Claim): Promise<void> {
  await ctx.byKey`delete from engine.jobs where id = ${claim.jobId} and generation = ${claim.generation}::bigint`
}

/** Records that a run has started, for functions whose time-outs count from the start. */
export async function markStarted(
  ctx: EngineContext,
  runId: string,
  finishWithinMs: number | undefined,
): Promise<void> {
  await ctx.sql`
    with begun as (
      update engine.runs set started_at = ${ctx.at()} where id = ${runId} and started_at is null and status = 'running'
      returning id)
    insert into engine.waits (run_id, step_id, kind, key, expires_at)
    select id, 'finish', 'finish', '', ${ctx.at()} + ${finishWithinMs ?? 0}::float8 * interval '1 millisecond'
    from begun where ${finishWithinMs !== undefined}::boolean on conflict do nothing`
  if (finishWithinMs !== undefined) ctx.scheduler.dueIn(finishWithinMs)
}
