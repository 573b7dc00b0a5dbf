import { claimDue, releaseClaims } from './claim'
import type { Claim, EngineContext, Scheduler } from './context'
import type { StepResult } from './plan'
import { beat, enrol } from './presence'
import { sweepOld } from './retention'
import { expireWaits } from './waits'

/** Does one claim's work; the claim it returns goes on at once in the same place. Must not throw. */
export type Execute = (
  ctx: EngineContext,
  claim: Claim,
  signal: AbortSignal,
  stopping: () => boolean,
) => Promise<Claim | undefined>

interface Call {
  claim: Claim
  abort: AbortController
}

const LONGEST_PAUSE_MS = 5000
const RETENTION_EVERY_MS = 60_000
/** Timers may fire a little early by the database's clock; later by this much is sooner than one beat too late. */
const LATE_MS = 3

/** The long-lived part of a process: it claims what is due, keeps the leases alive and goes on after any failure. */
export class Worker implements Scheduler {
  readonly ctx: EngineContext
  private readonly calls = new Map<string, Call>()
  private readonly settled = new Set<Promise<void>>()
  private state: 'new' | 'running' | 'stopping' | 'stopped' = 'new'
  private reserved = 0
  /** There was more to do than places: the next free place looks for it. */
  private starved = false
  private pumping: Promise<void> | undefined
  private pumpAgain = false
  private ticking: Promise<void> | undefined
  private tickAgain = false
  private chores: Promise<void> | undefined
  private tickAt = Number.POSITIVE_INFINITY
  private timer: NodeJS.Timeout | undefined
  private failures = 0
  private sweptAt = 0
  private notifying = false
  private listening: { unlisten(): Promise<void> } | undefined

  constructor(
    base: Omit<EngineContext, 'scheduler'>,
    private readonly execute: Execute,
    private readonly concurrency: number,
    private readonly keepMs: number,
  ) {
    this.ctx = { ...base, scheduler: this }
  }

  get stopping(): boolean {
    return this.state === 'stopping' || this.state === 'stopped'
  }

  async start(): Promise<void> {
    if (this.state !== 'new') return
    await enrol(this.ctx)
    this.state = 'running'
    this.sweptAt = Date.now()
    await this.listen()
    await this.tickNow()
  }

  async stop(graceMs: number): Promise<void> {
    if (this.state !== 'running') return
    this.state = 'stopping'
    await this.pumping
    let over: NodeJS.Timeout | undefined
    const grace = new Promise<void>((resolve) => {
      over = setTimeout(resolve, graceMs)
    })
    await Promise.race([Promise.all(this.settled), grace])
    clearTimeout(over)
    this.state = 'stopped'
    clearTimeout(this.timer)
    for (const { abort } of this.calls.values()) abort.abort(new Error('The engine stops'))
    await Promise.all([this.ticking, this.chores])
    try {
      await releaseClaims(this.ctx)
      await this.listening?.unlisten()
    } catch (error) {
      this.ctx.log.warn({ error }, 'claims could not be released; their leases will end')
    }
  }

  reserve(wanted: number): number {
    if (this.state !== 'running') return 0
    const places = Math.max(0, Math.min(wanted, this.free()))
    this.reserved += places
    return places
  }

  release(places: number): void {
    this.reserved -= places
  }

  take(claims: Claim[]): void {
    this.reserved -= claims.length
    for (const claim of claims) this.begin(claim)
  }

  wake(): void {
    if (this.state === 'running' && this.free() > 0) this.pump()
    else {
      this.starved = true
      this.notify()
    }
  }

  dueIn(ms: number): void {
    if (ms < LONGEST_PAUSE_MS) this.tickIn(Math.max(ms, 0) + LATE_MS)
  }

  ended(runId: string): void {
    for (const { claim, abort } of this.calls.values()) {
      if (claim.runId === runId && claim.kind !== 'end') abort.abort(new Error('The run has ended'))
    }
  }

  /** Looks for anything that is due, now. */
  kick(): void {
    if (this.state !== 'running') return
    this.pump()
    this.tickIn(0)
  }

  /** A checkpoint was kept: the next call of this claim must know its results. False when that would be too many. */
  mayKeep(generation: string, count: number, most: number): boolean {
    const call = this.calls.get(generation)
    return !call || call.claim.memo.size + count <= most
  }

  kept(generation: string, steps: readonly StepResult[]): void {
    const call = this.calls.get(generation)
    if (!call) return
    call.claim.attempt = 0
    for (const { id, value } of steps) if (!call.claim.memo.has(id)) call.claim.memo.set(id, value)
  }

  private free(): number {
    return this.concurrency - this.calls.size - this.reserved
  }

  private begin(claim: Claim): void {
    const abort = new AbortController()
    this.calls.set(claim.generation, { claim, abort })
    const done = this.work(claim, abort).finally(() => this.settled.delete(done))
    this.settled.add(done)
  }

  private async work(first: Claim, abort: AbortController): Promise<void> {
    let claim: Claim | undefined = first
    while (claim) {
      const current: Claim = claim
      claim = undefined
      try {
        claim = await this.execute(this.ctx, current, abort.signal, () => this.stopping)
      } catch (error) {
        // Nothing is lost: the lease ends and the job is delivered again.
        this.ctx.log.error({ error, runId: current.runId, jobId: current.jobId }, 'a job is left to its lease')
      }
      this.calls.delete(current.generation)
      if (claim) this.calls.set(claim.generation, { claim, abort })
    }
    if (this.starved || first.lane !== null) this.pump()
  }

  private pump(): void {
    if (this.state !== 'running') return
    this.pumpAgain = true
    this.pumping ??= this.pumpAll().finally(() => {
      this.pumping = undefined
      // Asked for between the last look and this line.
      if (this.pumpAgain) this.pump()
    })
  }

  private async pumpAll(): Promise<void> {
    while (this.pumpAgain && this.state === 'running') {
      this.pumpAgain = false
      const free = this.free()
      if (free <= 0) {
        this.starved = true
        return
      }
      // Half of the places stay open for runs that are inserted as claimed meanwhile.
      const places = this.reserve(Math.ceil(free / 2))
      try {
        const claims = await claimDue(this.ctx, places)
        this.reserved -= places - claims.length
        this.starved = claims.length === places
        if (this.starved) this.pumpAgain = true
        this.take(claims)
        this.failures = 0
      } catch (error) {
        this.reserved -= places
        this.pumpAgain = false
        this.failed(error, 'claiming failed')
        return
      }
    }
  }

  private tickIn(ms: number): void {
    if (this.state === 'stopped' || this.state === 'new') return
    const at = Date.now() + ms
    if (at >= this.tickAt) return
    this.tickAt = at
    clearTimeout(this.timer)
    this.timer = setTimeout(() => {
      this.tickAt = Number.POSITIVE_INFINITY
      void this.tickNow()
    }, ms)
  }

  private tickNow(): Promise<void> {
    if (this.ticking) this.tickAgain = true
    this.ticking ??= this.tick().finally(() => {
      this.ticking = undefined
      this.tickIn(this.tickAgain ? 0 : Math.min(LONGEST_PAUSE_MS, this.ctx.leaseMs / 3))
      this.tickAgain = false
    })
    return this.ticking
  }

  /** One statement keeps the leases, says that this process lives and asks what is due. */
  private async tick(): Promise<void> {
    const before = [...this.calls.values()]
    try {
      const { held, jobsDue, waitsDue, nextMs } = await beat(
        this.ctx,
        before.map(({ claim }) => claim),
      )
      for (const { claim, abort } of before) {
        if (!held.has(claim.generation) && this.calls.has(claim.generation)) abort.abort(new Error('The lease is lost'))
      }
      if (this.failures > 0) await this.listen()
      this.failures = 0
      if (jobsDue) this.pump()
      if (nextMs !== null) this.dueIn(nextMs)
      this.chores ??= this.doChores(waitsDue).finally(() => {
        this.chores = undefined
      })
    } catch (error) {
      this.failed(error, 'the beat failed')
    }
  }

  /** What may take longer than a beat must not hold one up. */
  private async doChores(waitsDue: boolean): Promise<void> {
    if (this.stopping) return
    try {
      if (waitsDue) await expireWaits(this.ctx)
      if (Date.now() - this.sweptAt < RETENTION_EVERY_MS) return
      this.sweptAt = Date.now()
      await sweepOld(this.ctx, this.keepMs)
    } catch (error) {
      this.failed(error, 'the sweep failed')
    }
  }

  private failed(error: unknown, what: string): void {
    this.failures++
    const pause = Math.min(LONGEST_PAUSE_MS, 100 * 2 ** Math.min(this.failures, 6))
    this.ctx.log.warn({ error, failures: this.failures }, what)
    this.tickIn(pause)
  }

  private async listen(): Promise<void> {
    try {
      await this.listening?.unlisten().catch(() => undefined)
      this.listening = await this.ctx.sql.listen('engine', () => this.pump())
    } catch (error) {
      this.ctx.log.warn({ error }, 'no notifications; what others leave behind is found by the sweep')
    }
  }

  /** Tells other processes, at most once at a time; a lost notification is healed by their sweep. */
  private notify(): void {
    if (this.notifying) return
    this.notifying = true
    this.ctx.sql`select pg_notify('engine', '')`
      .then(
        () => undefined,
        (error: unknown) => this.ctx.log.debug({ error }, 'a notification was lost'),
      )
      .finally(() => {
        this.notifying = false
      })
  }
}
