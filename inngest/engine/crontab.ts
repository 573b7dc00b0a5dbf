import { type Cron, nextTime } from '@/lib/cron'
import type { Claim, EngineContext } from './context'
import { LONGEST_MS } from './durations'
import { newId } from './ids'
import { dropJob } from './jobs'
import { cronJobId } from './presence'
import type { FunctionSpec } from './registry'
import { begin, newRun, starting } from './start'

/** Starts a tick's run and moves the job to the next tick, in one transaction. Missed ticks make a single run. */
export async function fireCron(ctx: EngineContext, claim: Claim): Promise<void> {
  const due = await tickOf(ctx, claim)
  if (!due) return await dropJob(ctx, claim)
  const { spec, source, tick } = due
  const at = tick.getTime()
  const event = { id: newId(at), name: 'inngest/scheduled.timer', data: { cron: source }, ts: at }
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
    return { inserted, waitMs: await moveToNext(inner, claim, due, after) }
  })
  begin(ctx, [run], text, outcome.inserted, 0)
  ctx.scheduler.dueIn(outcome.waitMs)
}

/** Moves a cron to its next tick without starting a run. */
export async function skipTick(ctx: EngineContext, claim: Claim): Promise<void> {
  const due = await tickOf(ctx, claim)
  if (!due) return await dropJob(ctx, claim)
  const now = ctx.now()
  ctx.scheduler.dueIn(await moveToNext(ctx, claim, due, now > due.tick ? now : due.tick))
}

interface Tick {
  spec: FunctionSpec
  source: string
  cron: Cron
  tick: Date
}

async function tickOf(ctx: EngineContext, claim: Claim): Promise<Tick | undefined> {
  const spec = (await ctx.specs()).get(claim.functionId)
  const found = spec?.crons.find(({ source }) => cronJobId(claim.functionId, source) === claim.jobId)
  const tick = new Date(claim.stepId ?? '')
  return spec && found && !Number.isNaN(tick.getTime()) ? { spec, ...found, tick } : undefined
}

/** @returns milliseconds from `after` to the next tick */
async function moveToNext(ctx: EngineContext, claim: Claim, { cron }: Tick, after: Date): Promise<number> {
  const next = nextTime(cron, 'UTC', after) ?? new Date(after.getTime() + LONGEST_MS)
  const due = next.toISOString()
  await ctx.sql`
    update engine.jobs set owner = null, attempt = 0, deliveries = 0, step_id = ${due}, due_at = ${due}::timestamptz
    where id = ${claim.jobId} and generation = ${claim.generation}::bigint`
  return next.getTime() - after.getTime()
}
