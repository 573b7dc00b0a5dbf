import type { EngineContext } from './context'
import { endRun } from './finish'
import { type Comparison, matches, tokensOf } from './match'
import type { EngineEvent } from './protocol'
import { triggeredBy } from './registry'
import { REMEMBER_MS } from './settings'
import { begin, claimFreely, newRun, starting } from './start'
import { type Settled, settling } from './waits'

/**
 * Stores one event in one statement: its id, the runs it starts and the waits it ends. An id that was already seen
 * changes nothing. `scope` keeps ids of different kinds apart.
 */
export async function ingest(ctx: EngineContext, event: EngineEvent, scope = ''): Promise<void> {
  const { sql, scheduler } = ctx
  const text = JSON.stringify(event)
  const settled = await waitingFor(ctx, event)
  const at = ctx.now()
  const runs = triggeredBy(await ctx.specs(), event).map((spec) => newRun(spec, event, at))
  const slots = claimFreely(ctx, runs)
  let result: { queued: { run_id: string; generation: string }[]; woken: number; fresh: boolean } | undefined
  try {
    const seen = sql`seen`
    const found = await sql<NonNullable<typeof result>[]>`
      with seen as (
        insert into engine.events (scope, id, received_at) values (${scope}, ${event.id}, ${ctx.at()})
        on conflict (scope, id) do update set received_at = excluded.received_at
        where engine.events.received_at < excluded.received_at - ${REMEMBER_MS}::float8 * interval '1 millisecond'
        returning id)
      ${runs.length > 0 ? sql`, ${starting(ctx, runs, text, seen)}` : sql``}
      ${settled.length > 0 ? sql`, ${settling(ctx, settled, seen)}` : sql``}
      select exists (select 1 from seen) as fresh,
        ${runs.length > 0 ? sql`(select json_agg(queued) from queued)` : sql`null::json`} as queued,
        ${settled.length > 0 ? sql`(select count(*)::int from woken)` : sql`0`} as woken`
    result = found[0]
  } catch (error) {
    // The statement may have committed nevertheless. Then no process has the claims it made, and their leases expire.
    scheduler.release(slots)
    throw error
  }
  begin(ctx, runs, text, result?.queued ?? [], slots)
  if (result?.woken) scheduler.wake()
  if (!result?.fresh) return
  const cancelled = new Set(settled.filter(({ value }) => value === null).map(({ run }) => run))
  for (const runId of cancelled) {
    try {
      await endRun(ctx, { runId, status: 'cancelled', output: 'null', steps: [] })
    } catch (error) {
      // The wait is marked and due, so the next heartbeat cancels the run.
      ctx.log.warn({ runId, error }, 'a cancellation is left to the next heartbeat')
    }
  }
}

async function waitingFor(ctx: EngineContext, event: EngineEvent): Promise<Settled[]> {
  const waits = await ctx.sql<{ run_id: string; step_id: string; kind: string; condition: string | null }[]>`
    select run_id, step_id, kind, condition from engine.waits
    where key = ${event.name} and kind in ('event', 'cancel')
      and token in (select json_array_elements_text(${JSON.stringify(tokensOf(event.data))}::text::json))`
  const value = JSON.stringify({ data: event })
  return waits
    .filter(({ condition }) => {
      const comparisons: Comparison[] = condition === null ? [] : JSON.parse(condition)
      return matches(comparisons, { async: event })
    })
    .map(({ run_id: run, step_id: step, kind }) => ({ run, step, value: kind === 'event' ? value : null }))
}
