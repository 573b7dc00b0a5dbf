import { dropJob } from './claim'
import type { Claim, EngineContext } from './context'
import { nextTick } from './cron'
import { newId } from './ids'
import { cronJobId } from './presence'
import { begin, newRun, starting } from './start'

/** Starts the run of a tick and moves the job to the next one, in one transaction; missed ticks make one run. */
export async function fireCron(ctx: EngineContext, claim: Claim): Promise<void> {
  const spec = (await ctx.specs()).get(claim.functionId)
  const found = spec?.crons.find(({ source }) => cronJobId(claim.functionId, source) === claim.jobId)
  const tick = new Date(claim.stepId ?? '')
  if (!spec || !found || Number.isNaN(tick.getTime())) {
    await dropJob(ctx, claim)
    return
  }
  const at = tick.getTime()
  const event = { id: newId(at), name: 'inngest/scheduled.timer', data: { cron: found.source }, ts: at }
  const run = newRun(spec, event, ctx.now())
  const text = JSON.stringify(event)
  const outcome = await ctx.sql.begin(async (tx) => {
    const inner = { ...ctx, sql: tx as unknown as EngineContext['sql'] }
    const [now] = await tx<{ at: Date }[]>`select ${inner.at()} as at`
    const inserted = await tx<{ run_id: string; generation: string }[]>`
      with seen as (
        insert into engine.events (scope, id, received_at)
        values (${claim.jobId}, ${tick.toISOString()}, ${inner.at()}) on conflict do nothing returning id),
      ${starting(inner, [run], text, tx`seen`)}
      select run_id, generation from queued`
    const after = now && now.at > tick ? now.at : tick
    const next = nextTick(found.cron, after) ?? new Date(after.getTime() + 366 * 86_400_000)
    const due = next.toISOString()
    await tx`
      update engine.jobs set owner = null, attempt = 0, deliveries = 0, step_id = ${due}, due_at = ${due}::timestamptz
      where id = ${claim.jobId} and generation = ${claim.generation}::bigint`
    return { inserted, waitMs: next.getTime() - after.getTime() }
  })
  begin(ctx, [run], text, outcome.inserted, 0)
  ctx.scheduler.dueIn(outcome.waitMs)
}
