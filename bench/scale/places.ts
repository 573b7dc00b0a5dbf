import type { Sql } from '@/db/types'
import { claimDue, lookAround } from '@/inngest/engine/claim'
import type { Claim, EngineContext } from '@/inngest/engine/context'
import { LEASE_MS, SLOTS } from '@/inngest/engine/settings'
import { Slots } from '@/inngest/engine/slots'
import { percentile } from '../stats'

/** Workspaces that queue far more than can be done, beside others that start a run now and then. */
export interface Crowd {
  busy: number
  quiet: number
  /** How many runs each busy workspace has waiting when the clock starts. */
  queued: number
  /** How often each quiet workspace starts a run, on average. */
  everyS: number
  seconds: number
  /** How long a run takes. */
  runMs: number
}

export interface Waits {
  p50: number
  p99: number
  most: number
}

export interface Outcome {
  /** Runs of quiet workspaces that were started. */
  starts: number
  waits: Waits
  /** The same starts in one queue, first come first served, with as many workers. */
  inOneQueue: Waits
  perSecond: number
  /** How many runs the busy workspaces completed: the fewest, and the most. */
  busiest: { least: number; most: number }
  /** Duration of one claim, in real milliseconds. */
  claimMs: { p50: number; p99: number }
}

const LIMIT = 32
const FUNCTION = 'bench-places'
/** Events within this many milliseconds are handled together, because a claim takes about as long. */
const TURN_MS = 5
const VACUUM_EVERY_MS = 500

/**
 * Runs the engine's own claims and slots on a virtual clock: only the runs are simulated. The part of `Worker` between
 * the two is repeated here, because it uses timers. No start bypasses the queue, because none does while others wait.
 */
export async function simulatePlaces(sql: Sql, crowd: Crowd, random: () => number): Promise<Outcome> {
  await sql`delete from engine.jobs where function_id = ${FUNCTION}`
  await sql`
    insert into engine.jobs (id, run_id, function_id, kind, due_at, lane, event)
    select 'busy-' || b || '-' || n, 'busy-' || b || '-' || n, ${FUNCTION}::text, 'run', '2026-01-01'::timestamptz - interval '1 minute',
      'busy-' || b, '{}'
    from generate_series(1, ${crowd.busy}::int) b cross join generate_series(1, ${crowd.queued}::int) n`
  await sql`vacuum analyze engine.jobs`
  const starts = startsOf(crowd, random)
  const process = new Process(sql, crowd.runMs)
  let next = 0
  for (let now = 0; now < crowd.seconds * 1_000; now += TURN_MS) {
    const first = next
    while ((starts[next]?.at ?? Number.POSITIVE_INFINITY) <= now) next++
    const arrived = starts.slice(first, next)
    await process.turn(now, arrived)
    if (now % VACUUM_EVERY_MS === 0) await sql`vacuum engine.jobs`
  }
  await sql`delete from engine.jobs where function_id = ${FUNCTION}`
  const begun = starts.filter(({ lane }) => process.begun.has(lane))
  const waits = begun.map(({ lane, at }) => (process.begun.get(lane) ?? 0) - at)
  const done = Array.from({ length: crowd.busy }, (_, n) => process.done.get(`busy-${n + 1}`) ?? 0)
  const all = [...process.done.values()].reduce((sum, count) => sum + count, 0)
  const claims = process.claimMs.toSorted((a, b) => a - b)
  return {
    starts: starts.length,
    waits: waitsOf(waits, starts.length),
    inOneQueue: waitsOf(firstComeFirstServed(crowd, starts), starts.length),
    perSecond: all / crowd.seconds,
    busiest: { least: Math.min(...done), most: Math.max(...done) },
    claimMs: { p50: percentile(claims, 0.5), p99: percentile(claims, 0.99) },
  }
}

interface Start {
  at: number
  /** Each start of a quiet workspace is its only one, so its lane identifies it. */
  lane: string
}

/** Starts at random times, each by a workspace without a run in progress. */
function startsOf({ quiet, everyS, seconds }: Crowd, random: () => number): Start[] {
  const starts: Start[] = []
  const meanMs = (everyS * 1_000) / quiet
  const between = () => -Math.log(1 - random()) * meanMs
  let at = between()
  // The last ones must have time to begin.
  while (at < seconds * 900) {
    starts.push({ at, lane: `quiet-${starts.length}` })
    at += between()
  }
  return starts
}

/** A process of the engine, without its timers. */
class Process {
  readonly begun = new Map<string, number>()
  readonly done = new Map<string, number>()
  readonly claimMs: number[] = []
  private readonly slots = new Slots(SLOTS, () => {})
  private working: { claim: Claim; until: number }[] = []
  private now = 0
  private readonly ctx: EngineContext

  constructor(
    private readonly sql: Sql,
    private readonly runMs: number,
  ) {
    const specs = new Map([[FUNCTION, { id: FUNCTION, concurrency: { key: 'event.data.tenantId', limit: LIMIT } }]])
    const at = () => sql`'2026-01-01'::timestamptz + ${this.now}::float8 * interval '1 millisecond'`
    const ctx: Partial<EngineContext> = { sql, bootId: 'bench', leaseMs: LEASE_MS, at: at as never }
    this.ctx = { ...ctx, specs: async () => specs as never } as EngineContext
  }

  /** Ends finished runs, accepts new starts, and claims. */
  async turn(now: number, arrived: readonly Start[]): Promise<void> {
    this.now = now
    const over = this.working.filter(({ until }) => until <= now)
    this.working = this.working.filter(({ until }) => until > now)
    for (const { claim } of over) {
      this.slots.end(claim.lane)
      this.done.set(claim.lane ?? '', (this.done.get(claim.lane ?? '') ?? 0) + 1)
    }
    if (over.length > 0)
      await this.sql`delete from engine.jobs where id in ${this.sql(over.map(({ claim }) => claim.jobId))}`
    if (arrived.length > 0) await this.add(arrived)
    if (over.length > 0 || arrived.length > 0) await this.claim()
  }

  private async add(arrived: readonly Start[]): Promise<void> {
    const jobs = arrived.map(({ lane, at }) => ({ lane, at: Math.floor(at) }))
    await this.sql`
      insert into engine.jobs (id, run_id, function_id, kind, due_at, lane, event)
      select lane, lane, ${FUNCTION}::text, 'run', '2026-01-01'::timestamptz + at * interval '1 millisecond', lane, '{}'
      from json_to_recordset(${JSON.stringify(jobs)}::text::json) as j(lane text, at float8)`
  }

  /** As `Worker.pumpAll`. */
  private async claim(): Promise<void> {
    for (let again = true; again; ) {
      again = false
      const { free, shared } = this.slots
      if (free <= 0) return
      const slots = this.slots.reserve(Math.ceil(free / 2))
      const started = performance.now()
      const due = await lookAround(this.ctx)
      const room = { shared, served: this.slots.served(), reserved: this.slots.reservedByLane(), suspects: false }
      const claims = await claimDue(this.ctx, due, { ...room, slots })
      this.claimMs.push(performance.now() - started)
      again = claims.length === slots
      this.slots.release(slots)
      for (const claim of claims) {
        this.slots.begin(claim)
        this.working.push({ claim, until: this.now + this.runMs })
        if (claim.lane !== null && !this.begun.has(claim.lane)) this.begun.set(claim.lane, this.now)
      }
    }
  }
}

/** When the same starts would begin without turns. */
function firstComeFirstServed({ busy, queued, runMs }: Crowd, starts: readonly Start[]): number[] {
  const free = Array.from({ length: SLOTS }, () => 0)
  const take = (at: number) => {
    const first = free.indexOf(Math.min(...free))
    const begins = Math.max(at, free[first] ?? 0)
    free[first] = begins + runMs
    return begins - at
  }
  for (let n = 0; n < busy * queued; n++) take(0)
  return starts.map(({ at }) => take(at))
}

/** A start that never began waited forever. */
function waitsOf(waits: readonly number[], starts: number): Waits {
  const missing = Array.from({ length: starts - waits.length }, () => Number.POSITIVE_INFINITY)
  const sorted = [...waits, ...missing].sort((a, b) => a - b)
  return { p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99), most: sorted.at(-1) ?? Number.NaN }
}

/** Pseudo-random numbers in [0, 1), the same for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
