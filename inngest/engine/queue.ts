import type { AdmissionQueue } from './admission-queue'
import type { Backlog } from './backlog'
import type { Claim, EngineContext, Scheduler } from './context'
import { rows } from './context'
import type { EngineEvent, StepResult } from './protocol'
import { type FunctionSpec, isTimed } from './registry'
import { firstClaim, laneOf, type NewRun, newRun } from './start'
import type { Engine, NativeHandler, Patience, Queued, Room, Slot } from './types'

/** The functions that can be queued, by the name of their event. */
export function findDirectFunctions(
  specs: ReadonlyMap<string, FunctionSpec>,
  handlers: ReadonlyMap<string, NativeHandler>,
): Map<string, FunctionSpec> {
  const found = new Map<string, FunctionSpec>()
  for (const name of handlers.keys()) {
    const spec = specs.get(name)
    const [trigger, ...more] = spec?.triggers ?? []
    if (!spec || !trigger || more.length > 0 || trigger.condition.length > 0) continue
    // A function that needs a row from the start, or shares its event with other functions, uses the event table.
    if (spec.idempotency || isTimed(spec)) continue
    const others = [...specs.values()].filter(
      (other) =>
        other.cancels.some(({ event }) => event === trigger.event) ||
        (other !== spec && other.triggers.some(({ event }) => event === trigger.event)),
    )
    if (others.length === 0) found.set(trigger.event, spec)
  }
  return found
}

/** Whether the queue has room for an event's job. Always true for an event that becomes jobs only later. */
export function roomFor(
  { backlog, admissions }: { backlog: Backlog; admissions?: AdmissionQueue },
  directFunctions: ReadonlyMap<string, FunctionSpec>,
  { name, data }: Pick<EngineEvent, 'name' | 'data'>,
): Room {
  const spec = directFunctions.get(name)
  if (!spec) return 'free'
  const lane = laneOf(spec, { data })
  const room = backlog.room(spec.id, lane)
  return room === 'free' ? (admissions?.room(lane) ?? 'free') : room
}

/** A slot of a lane, until taken. */
class ReservedSlot implements Slot {
  private taken = false

  constructor(
    private readonly lane: string | null,
    private readonly giveBack: () => void,
  ) {}

  /** @returns false if it belongs to another lane, or was already taken */
  take(lane: string | null): boolean {
    if (this.taken || this.lane !== lane) return false
    this.taken = true
    return true
  }

  release(): void {
    if (this.take(this.lane)) this.giveBack()
  }
}

/** Reserves a slot for an event's run, waiting for one if necessary. Null if the run should be queued. */
export async function slotFor(
  { scheduler, admissions }: { scheduler: Pick<Scheduler, 'reserveFor' | 'releaseFrom'>; admissions: AdmissionQueue },
  directFunctions: ReadonlyMap<string, FunctionSpec>,
  { name, data }: Pick<EngineEvent, 'name' | 'data'>,
  patience: Patience,
): Promise<Slot | null> {
  const spec = directFunctions.get(name)
  if (!spec) return null
  const lane = laneOf(spec, { data })
  const limit = limitOf(spec)
  const reserved =
    scheduler.reserveFor(lane, limit) ||
    ((await patience.mayWait()) && (await admissions.acquire(lane, limit, patience)))
  return reserved ? new ReservedSlot(lane, () => scheduler.releaseFrom(lane)) : null
}

const limitOf = ({ concurrency }: FunctionSpec) => concurrency?.limit ?? Number.POSITIVE_INFINITY

/** The dependencies for preparing a job. A process that never claims has them too. */
type QueueContext = Pick<EngineContext, 'now' | 'bootId' | 'leaseMs' | 'backlog'> & {
  scheduler: Pick<Scheduler, 'reserveFor' | 'releaseFrom' | 'recheckQueue' | 'start' | 'wake'>
}

/**
 * Prepares a run's job directly, without a row for the event or the run. The event wakes no waits. Reserves a slot if
 * the run may begin at once.
 * @param directFunctions the result of `findDirectFunctions`
 */
export function queue(
  ctx: QueueContext,
  directFunctions: ReadonlyMap<string, FunctionSpec>,
  sent: Parameters<Engine['queue']>[0],
  slot?: Slot | null,
): Queued | undefined {
  const spec = directFunctions.get(sent.name)
  if (!spec) return undefined
  const at = ctx.now()
  const event: EngineEvent = { ...sent, ts: at.getTime() }
  const run = newRun(spec, event, at)
  const text = JSON.stringify(event)
  const { scheduler } = ctx
  const claimed = (slot instanceof ReservedSlot && slot.take(run.lane)) || scheduler.reserveFor(run.lane, limitOf(spec))
  let reserved = claimed
  const { id, lane } = run
  return {
    job: {
      id,
      functionId: spec.id,
      lane,
      event: text,
      owner: claimed ? ctx.bootId : null,
      leaseMs: claimed ? ctx.leaseMs : 0,
    },
    committed(generation) {
      if (!claimed) {
        ctx.backlog.queued(spec.id, lane)
        return scheduler.wake()
      }
      if (!reserved) return
      reserved = false
      if (generation === null) scheduler.releaseFrom(lane)
      else scheduler.start({ ...firstClaim(run, text), generation, withoutRow: true })
    },
    notWritten() {
      if (!reserved) return
      reserved = false
      scheduler.releaseFrom(lane)
      // The answer to a commit may be lost.
      scheduler.recheckQueue()
    },
  }
}

/**
 * Writes the row of a run that had none, with its waits and its step results so far.
 * @returns the claim; undefined if stale
 */
export async function writeRun(
  ctx: EngineContext,
  claim: Claim,
  steps: readonly StepResult[],
): Promise<Claim | undefined> {
  const spec = (await ctx.specs()).get(claim.functionId)
  const event = JSON.parse(claim.event) as EngineEvent
  const waits: NewRun['waits'] = spec ? newRun(spec, event, ctx.now()).waits : []
  const [row] = await ctx.sql<{ mine: number }[]>`
    with mine as (
      update engine.jobs set event = null
      where id = ${claim.jobId} and generation = ${claim.generation}::bigint and event is not null
      returning run_id, function_id, lane),
    born as (
      insert into engine.runs (id, function_id, event, lane, created_at)
      select run_id, function_id, ${claim.event}::text, lane, ${ctx.at()} from mine),
    kept as (
      insert into engine.steps (run_id, id, value)
      select mine.run_id, s.id, s.value from mine, json_to_recordset(${rows(ctx, steps)}) as s(id text, value text)),
    armed as (
      insert into engine.waits (run_id, step_id, kind, key, token, condition, expires_at)
      select mine.run_id, w."stepId", w.kind, w.key, w.token, w.condition,
        ${ctx.at()} + w."inMs" * interval '1 millisecond'
      from mine, json_to_recordset(${rows(ctx, waits)}) as w(
        "stepId" text, kind text, key text, token text, condition text, "inMs" float8))
    select count(*)::int as mine from mine`
  // An earlier attempt whose answer was lost may have written it.
  if (row?.mine !== 1 && !(await isWritten(ctx, claim))) return undefined
  const memo = new Map(claim.memo)
  for (const { id, value } of steps) memo.set(id, value)
  return { ...claim, memo, withoutRow: false }
}

async function isWritten(ctx: EngineContext, { jobId, generation }: Claim): Promise<boolean> {
  const found = await ctx.sql`
    select 1 from engine.jobs j join engine.runs r on r.id = j.run_id
    where j.id = ${jobId} and j.generation = ${generation}::bigint and j.event is null`
  return found.length > 0
}
