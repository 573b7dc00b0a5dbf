import type { Claim, EngineContext, Fragment } from './context'
import { leaseEnd, rows } from './context'
import { digest, newId } from './ids'
import { bind, read } from './match'
import { condition, type NewWait } from './plan'
import type { EngineEvent } from './protocol'
import type { FunctionSpec } from './registry'
import { REMEMBER_MS } from './settings'

/** A run about to be inserted. */
export interface NewRun {
  id: string
  fn: string
  lane: string | null
  idem: string | null
  parent: string | null
  parentStep: string | null
  claimed: boolean
  waits: NewWait[]
}

/** The lanes of recent events by their key's value: a start asks for its lane several times. */
const lanes = new Map<unknown, string>()
const MAX_LANES = 1_000

/** The lane in which runs of a function take their turns. Null for a function without a limit. */
export function laneOf({ concurrency }: FunctionSpec, event: Pick<EngineEvent, 'data'>): string | null {
  if (!concurrency) return null
  if (!concurrency.key) return '*'
  const value = read(concurrency.key, { event: event as EngineEvent })?.value ?? null
  const known = lanes.get(value)
  if (known !== undefined) return known
  if (lanes.size >= MAX_LANES) lanes.clear()
  const lane = digest(value)
  lanes.set(value, lane)
  return lane
}

/** Builds a run from its function and event. Writes nothing. */
export function newRun(spec: FunctionSpec, event: EngineEvent, at: Date): NewRun {
  const scope = { event }
  const { idempotency } = spec
  const waits: NewWait[] = spec.cancels.map(({ event: key, condition: source, forMs }, i) => ({
    kind: 'cancel',
    stepId: `cancel:${i}`,
    key,
    ...condition(bind(source, event)),
    inMs: forMs,
  }))
  const timeout = { key: '', token: '', condition: null }
  if (spec.startWithinMs !== undefined)
    waits.push({ kind: 'start', stepId: 'start', inMs: spec.startWithinMs, ...timeout })
  return {
    id: newId(at.getTime()),
    fn: spec.id,
    lane: laneOf(spec, event),
    idem: idempotency ? digest(read(idempotency, scope)?.value ?? null) : null,
    parent: null,
    parentStep: null,
    claimed: false,
    waits,
  }
}

/**
 * Reserves slots for runs that may start immediately. Runs of a function with a limit are queued and take their turn.
 */
export function claimFreely(ctx: EngineContext, runs: NewRun[]): number {
  const free = runs.filter((run) => run.lane === null)
  const slots = free.length > 0 ? ctx.scheduler.reserve(free.length) : 0
  for (const run of free.slice(0, slots)) run.claimed = true
  return slots
}

/**
 * Statement parts that insert runs with their first job, claimed by this process if it has reserved a slot. They start
 * with `wanted` and end with `queued(run_id, generation)`. Nothing starts unless the part named `gate` has a row.
 */
export function starting(ctx: EngineContext, runs: readonly NewRun[], event: string, gate?: Fragment): Fragment {
  const { sql } = ctx
  const waits = runs.flatMap((run) => run.waits.map((wait) => ({ run: run.id, ...wait })))
  const wanted = runs.map(({ waits: _, ...run }) => run)
  return sql`
    wanted as (
      select w.* from json_to_recordset(${rows(ctx, wanted)}) as w(
        id text, fn text, lane text, idem text, parent text, "parentStep" text, claimed boolean)
      ${gate ? sql`where exists (select 1 from ${gate})` : sql``}),
    ${
      runs.some((run) => run.idem !== null)
        ? sql`
    once as (
      insert into engine.events (scope, id, received_at)
      select 'key:' || fn, idem, ${ctx.at()} from wanted where idem is not null
      on conflict (scope, id) do update set received_at = excluded.received_at
      where engine.events.received_at < excluded.received_at - ${REMEMBER_MS}::float8 * interval '1 millisecond'
      returning scope),`
        : sql``
    }
    born as (
      insert into engine.runs (id, function_id, event, lane, parent_run_id, parent_step_id, created_at)
      select id, fn, ${event}::text, lane, parent, "parentStep", ${ctx.at()} from wanted
      ${runs.some((run) => run.idem !== null) ? sql`where idem is null or 'key:' || fn in (select scope from once)` : sql``}
      returning id),
    ${
      waits.length > 0
        ? sql`
    armed as (
      insert into engine.waits (run_id, step_id, kind, key, token, condition, expires_at)
      select w.run, w."stepId", w.kind, w.key, w.token, w.condition, ${ctx.at()} + w."inMs" * interval '1 millisecond'
      from json_to_recordset(${rows(ctx, waits)}) as w(
        run text, "stepId" text, kind text, key text, token text, condition text, "inMs" float8)
      join born on born.id = w.run),`
        : sql``
    }
    queued as (
      insert into engine.jobs (id, run_id, function_id, kind, lane, due_at, owner, generation)
      select w.id, w.id, w.fn, 'run', w.lane,
        case when w.claimed then ${leaseEnd(ctx)} else ${ctx.at()} end,
        case when w.claimed then ${ctx.bootId}::text end,
        case when w.claimed then nextval('engine.generation') else 0 end
      from wanted w join born on born.id = w.id
      returning run_id, generation::text)`
}

/** Hands inserted runs to the worker. `slots` is the number that `claimFreely` reserved. */
export function begin(
  ctx: EngineContext,
  runs: readonly NewRun[],
  event: string,
  inserted: readonly { run_id: string; generation: string }[],
  slots: number,
): void {
  const generations = new Map(inserted.map((row) => [row.run_id, row.generation]))
  const started = runs.filter((run) => generations.has(run.id))
  const claims = started
    .filter((run) => run.claimed)
    .map((run): Claim => ({ ...firstClaim(run, event), generation: generations.get(run.id) ?? '' }))
  ctx.scheduler.release(slots - claims.length)
  ctx.scheduler.take(claims)
  if (claims.length < started.length) ctx.scheduler.wake()
  for (const run of started) for (const { inMs } of run.waits) if (inMs !== undefined) ctx.scheduler.dueIn(inMs)
}

/** The claim of a run that begins. */
export function firstClaim(run: NewRun, event: string): Omit<Claim, 'generation'> {
  return {
    jobId: run.id,
    runId: run.id,
    functionId: run.fn,
    kind: 'run',
    stepId: null,
    attempt: 0,
    deliveries: 0,
    lane: run.lane,
    event,
    memo: new Map(),
    pending: 0,
    race: false,
    started: false,
    running: true,
    withoutRow: false,
  }
}
