import type { EngineContext } from './context'
import { REMEMBER_MS } from './settings'

const BATCH = 500
/** Deleting this many batches a minute is faster than a process can add rows. */
const MAX_BATCHES = 60

/** Deletes old rows in batches: ended runs with their results, expired ids, and processes that ended long ago. */
export async function sweepOld(ctx: EngineContext, keepMs: number): Promise<void> {
  for (let batch = 0; batch < MAX_BATCHES; batch++) if (!(await sweepBatch(ctx, keepMs))) return
}

/** @returns whether more may be left */
async function sweepBatch(ctx: EngineContext, keepMs: number): Promise<boolean> {
  const { sql } = ctx
  const interval = sql`interval '1 millisecond'`
  const [row] = await sql<{ runs: number; events: number }[]>`
    with old_runs as (
      delete from engine.runs where id in (
        select r.id from engine.runs r
        where r.ended_at < ${ctx.at()} - ${keepMs}::float8 * ${interval}
          and not exists (select 1 from engine.jobs j where j.run_id = r.id)
        order by r.ended_at limit ${BATCH} for update skip locked)
      returning id),
    old_steps as (delete from engine.steps s using old_runs o where s.run_id = o.id),
    old_workers as (
      delete from engine.workers where last_seen < ${ctx.at()} - interval '1 day' and boot_id <> ${ctx.bootId}),
    old_events as (
      delete from engine.events e using (
        select scope, id from engine.events
        where received_at < ${ctx.at()} - ${Math.max(keepMs, REMEMBER_MS)}::float8 * ${interval}
        order by received_at limit ${BATCH * 4} for update skip locked) old
      where e.scope = old.scope and e.id = old.id
      returning 1)
    select (select count(*)::int from old_runs) as runs, (select count(*)::int from old_events) as events`
  return row?.runs === BATCH || row?.events === BATCH * 4
}
