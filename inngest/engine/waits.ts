import { plainError } from './call'
import type { EngineContext, Fragment } from './context'
import { rows } from './context'
import { endRun } from './finish'

/** A settled wait: with a result for its step, or without one because its event cancels the run. */
export interface Settled {
  run: string
  step: string
  value: string | null
}

/**
 * Statement parts that settle each wait exactly once: `held` locks the runs in order, and only a row that `gone`
 * actually deletes counts. They end with `woken(id)`, the runs to call again.
 */
export function settling(ctx: EngineContext, settled: readonly Settled[], gate?: Fragment): Fragment {
  const { sql } = ctx
  return sql`
    chosen as (
      select c.* from json_to_recordset(${rows(ctx, settled)}) as c(run text, step text, value text)
      ${gate ? sql`where exists (select 1 from ${gate})` : sql``}),
    held as materialized (
      select r.id from engine.runs r where r.id in (select run from chosen) and r.status = 'running'
      order by r.id for update),
    marked as (
      update engine.waits w set kind = 'cancelled', expires_at = ${ctx.at()} from chosen c join held h on h.id = c.run
      where c.value is null and w.run_id = c.run and w.step_id = c.step),
    gone as (
      delete from engine.waits w using chosen c join held h on h.id = c.run
      where c.value is not null and w.run_id = c.run and w.step_id = c.step
      returning w.run_id, w.step_id, c.value),
    kept as (
      insert into engine.steps (run_id, id, value) select run_id, step_id, value from gone on conflict do nothing),
    freed as (
      update engine.runs r set pending = r.pending - g.n
      from (select run_id, count(*)::int as n from gone group by run_id) g
      where r.id = g.run_id returning r.id, r.function_id, r.lane, r.pending, r.race),
    woken as (${callingAgain(ctx, sql`freed where pending = 0 or race`)})`
}

/**
 * Queues the next call of each run. In a race the job may already exist or even be claimed. The call in flight can only
 * plan (a step was pending when it started), so it is fenced off and repeated with all results.
 */
export function callingAgain(ctx: EngineContext, source: Fragment): Fragment {
  const { sql } = ctx
  return sql`
    insert into engine.jobs (id, run_id, function_id, kind, lane, due_at)
    select id, id, function_id, 'run', lane, ${ctx.at()} from ${source}
    on conflict (id) do update
    set generation = nextval('engine.generation'), owner = null, due_at = excluded.due_at, attempt = 0, deliveries = 0
    returning id`
}

/** Settles waits without an event. @returns how many were still open */
export async function settle(ctx: EngineContext, settled: readonly Settled[]): Promise<number> {
  if (settled.length === 0) return 0
  const [row] = await ctx.sql<{ gone: number; woken: number }[]>`
    with ${settling(ctx, settled)}
    select (select count(*)::int from gone) as gone, (select count(*)::int from woken) as woken`
  if (row?.woken) ctx.scheduler.wake()
  return row?.gone ?? 0
}

/** Delivers a signal. @returns the id of the run that waited for it, if any */
export async function deliverSignal(ctx: EngineContext, signal: string, data: unknown): Promise<string | undefined> {
  const [wait] = await ctx.sql<{ run_id: string; step_id: string }[]>`
    select run_id, step_id from engine.waits where kind = 'signal' and key = ${signal}`
  if (!wait) return undefined
  const value = JSON.stringify({ data: { signal, data: data ?? null } })
  const settled = await settle(ctx, [{ run: wait.run_id, step: wait.step_id, value }])
  return settled > 0 ? wait.run_id : undefined
}

const BATCH = 200
const INVOKE_TIMEOUT = JSON.stringify({
  error: plainError('Timed out waiting for invoked function to complete', 'InngestInvokeTimeoutError'),
})

/** Ends waits that have timed out. */
export async function expireWaits(ctx: EngineContext): Promise<void> {
  while (true) {
    const due = await ctx.sql<{ run_id: string; step_id: string; kind: string; started: boolean; running: boolean }[]>`
      select w.run_id, w.step_id, w.kind, r.started_at is not null as started, coalesce(r.status = 'running', false) as running
      from engine.waits w left join engine.runs r on r.id = w.run_id
      where w.expires_at <= ${ctx.at()} order by w.expires_at limit ${BATCH}`
    const settled: Settled[] = []
    const idle: { run: string; step: string }[] = []
    const cancelled = new Set<string>()
    for (const { run_id: run, step_id: step, kind, started, running } of due) {
      if (!running) idle.push({ run, step })
      else if (kind === 'cancelled' || kind === 'finish' || (kind === 'start' && !started)) cancelled.add(run)
      else if (kind === 'cancel' || kind === 'start') idle.push({ run, step })
      else settled.push({ run, step, value: kind === 'invoke' ? INVOKE_TIMEOUT : 'null' })
    }
    await settle(ctx, settled)
    if (idle.length > 0) {
      await ctx.sql`
        delete from engine.waits w using json_to_recordset(${rows(ctx, idle)}) as c(run text, step text)
        where w.run_id = c.run and w.step_id = c.step`
    }
    for (const runId of cancelled) await endRun(ctx, { runId, status: 'cancelled', output: 'null', steps: [] })
    if (due.length < BATCH) return
  }
}
