import { claimDue, lookAround } from './claim'
import type { Claim, EngineContext, Scheduler } from './context'
import { Door } from './door'
import { Finished } from './finished'
import { releaseClaim, releaseClaims } from './jobs'
import { Notifier } from './notifier'
import { enrol, heartbeat } from './presence'
import type { StepResult } from './protocol'
import { sweepOld } from './retention'
import { DOOR_MS, SWEEP_EVERY_MS, UNSURE_MS } from './settings'
import { Slots } from './slots'
import type { EngineOptions } from './types'
import { expireWaits } from './waits'

/** Does the work of one claim. If it returns a claim, that continues at once in the same slot. */
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

/** By the database's clock a timer may fire slightly early. Slightly late is better than a whole heartbeat late. */
const LATE_MS = 3

/** The long-lived part of a process: claims due jobs, renews leases and keeps running after any failure. */
export class Worker implements Scheduler {
  readonly ctx: EngineContext
  private readonly calls = new Map<string, Call>()
  private readonly settled = new Set<Promise<void>>()
  private state: 'new' | 'running' | 'stopping' | 'stopped' = 'new'
  private readonly slots: Slots
  private readonly done: Finished
  /** More was due than there were free slots, so the next call that ends checks again. */
  private starved = false
  /** Runs while more is due than there are free slots. */
  private starving: NodeJS.Timeout | undefined
  readonly door: Door
  private pumping: Promise<void> | undefined
  private pumpAgain = false
  private ticking: Promise<void> | undefined
  private tickAgain = false
  private chores: Promise<void> | undefined
  private tickAt = Number.POSITIVE_INFINITY
  private timer: NodeJS.Timeout | undefined
  private failures = 0
  /** The last heartbeat found no other process. */
  private sole = false
  /** A process of an older release is running, which could not continue what queued runs and native calls leave. */
  older = false
  private sweptAt = 0
  /** When a statement last failed that may have claimed jobs all the same. */
  private unsureAt: number | null = null
  private readonly notifier: Notifier
  private listening: { close(): void } | undefined

  constructor(
    base: Omit<EngineContext, 'scheduler'>,
    private readonly execute: Execute,
    private readonly options: { slots: number; keepMs: number; mostWaiting: number } & Pick<EngineOptions, 'listen'>,
  ) {
    this.ctx = { ...base, scheduler: this }
    this.slots = new Slots(options.slots, () => this.opened())
    this.door = new Door((lane, limit) => this.reserveFor(lane, limit), options.mostWaiting)
    this.done = new Finished(
      this.ctx,
      () => {
        if (this.starved) this.pump()
      },
      () => this.starved || this.stopping,
    )
    this.notifier = new Notifier(base.sql, 'engine', base.log)
  }

  get stopping(): boolean {
    return this.state === 'stopping' || this.state === 'stopped'
  }

  async open(): Promise<void> {
    if (this.state !== 'new') return
    await enrol(this.ctx)
    this.state = 'running'
    this.sweptAt = performance.now()
    this.listening = this.options.listen('engine', () => this.pump())
    await this.tickNow()
  }

  async stop(graceMs: number): Promise<void> {
    if (this.state !== 'running') return
    this.state = 'stopping'
    clearTimeout(this.starving)
    this.door.close()
    await this.pumping
    let over: NodeJS.Timeout | undefined
    const grace = new Promise<void>((resolve) => {
      over = setTimeout(resolve, graceMs)
    })
    await Promise.race([this.drained(), grace])
    clearTimeout(over)
    this.state = 'stopped'
    clearTimeout(this.timer)
    this.slots.close()
    this.listening?.close()
    for (const { abort } of this.calls.values()) abort.abort(new Error('The engine stops'))
    await Promise.all([this.ticking, this.chores, this.done.settled()])
    try {
      await releaseClaims(this.ctx)
    } catch (error) {
      this.ctx.log.warn({ error }, 'claims could not be released; their leases will end')
    }
  }

  private async drained(): Promise<void> {
    while (this.settled.size > 0) await Promise.all(this.settled)
  }

  reserve(wanted: number): number {
    return this.state === 'running' ? this.slots.reserve(wanted) : 0
  }

  release(slots: number): void {
    this.slots.release(slots)
    this.door.admit()
  }

  reserveFor(lane: string | null, limit: number): boolean {
    // Jobs that already wait come first.
    return this.state === 'running' && !this.starved && this.slots.reserveFor(lane, limit)
  }

  releaseFrom(lane: string | null): void {
    this.slots.releaseFor(lane)
    if (this.starved) this.pump()
    else this.door.admit()
  }

  unsure(): void {
    this.unsureAt = performance.now()
    this.tickIn(UNSURE_MS)
  }

  start(claim: Claim): void {
    this.slots.releaseFor(claim.lane)
    // While the engine is stopping, what was begun with the claim still runs.
    if (this.state === 'running' || this.state === 'stopping') {
      this.begin(claim)
      return
    }
    releaseClaim(this.ctx, claim).catch((error: unknown) =>
      this.ctx.log.warn({ error, jobId: claim.jobId }, 'a claim could not be released; its lease will end'),
    )
  }

  take(claims: Claim[]): void {
    this.slots.release(claims.length)
    for (const claim of claims) this.begin(claim)
  }

  wake(): void {
    if (this.state === 'running' && this.slots.free > 0) this.pump()
    else {
      this.starve(true)
      this.notifier.notify()
    }
  }

  dueIn(ms: number): void {
    if (ms < this.ctx.longestPauseMs) this.tickIn(Math.max(ms, 0) + LATE_MS)
  }

  finished(claim: Claim): void {
    this.done.add(claim)
  }

  ended(runId: string): void {
    for (const { claim, abort } of this.calls.values()) {
      if (claim.runId === runId && claim.kind !== 'end') abort.abort(new Error('The run has ended'))
    }
  }

  /** Checks for due work now. */
  kick(): void {
    if (this.state !== 'running') return
    this.pump()
    this.tickIn(0)
  }

  /** True when a claim may store `count` more results. */
  mayKeep(generation: string, count: number, most: number): boolean {
    const call = this.calls.get(generation)
    return !call || call.claim.memo.size + count <= most
  }

  /** A checkpoint was stored, so this claim's next call must get its results. */
  kept(generation: string, steps: readonly StepResult[]): void {
    const call = this.calls.get(generation)
    if (!call) return
    this.slots.acquit(generation)
    call.claim.attempt = 0
    for (const { id, value } of steps) if (!call.claim.memo.has(id)) call.claim.memo.set(id, value)
  }

  private begin(claim: Claim): void {
    const abort = new AbortController()
    this.calls.set(claim.generation, { claim, abort })
    this.slots.begin(claim)
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
        // Nothing is lost: the job returns when its lease expires.
        this.ctx.log.error({ error, runId: current.runId, jobId: current.jobId }, 'a job waits for its lease to expire')
      }
      this.calls.delete(current.generation)
      this.slots.acquit(current.generation)
      if (claim) this.calls.set(claim.generation, { claim, abort })
    }
    this.slots.end(first.lane)
    this.door.admit()
    // Another process may have left a job of this lane in the queue, because the lane had reached its limit.
    if (this.starved || (first.lane !== null && !this.sole)) this.pump()
  }

  private pump(): void {
    if (this.state !== 'running') return
    this.pumpAgain = true
    this.pumping ??= this.pumpAll().finally(() => {
      this.pumping = undefined
      // Another check was requested between the last check and this line.
      if (this.pumpAgain) this.pump()
    })
  }

  private async pumpAll(): Promise<void> {
    while (this.pumpAgain && this.state === 'running') {
      this.pumpAgain = false
      const { free, shared } = this.slots
      if (free <= 0) {
        this.starve(true)
        return
      }
      // Half of the slots stay open for runs that are inserted already claimed meanwhile.
      const slots = this.reserve(Math.ceil(free / 2))
      let taken = 0
      try {
        const due = await lookAround(this.ctx)
        const suspects = due.suspects && this.slots.suspect === undefined
        // From here on nothing is reserved for a lane, or it could get more than its limit: what is claimed now does not
        // know of it, nor it of that.
        if (due.limited.length > 0) this.starve(true)
        const room = { shared, served: this.slots.served(), reserved: this.slots.reservedByLane() }
        const claims = await claimDue(this.ctx, due, { ...room, slots: suspects ? 1 : slots, suspects })
        taken = claims.length
        this.starve(taken === slots || due.limited.length > 0)
        if (this.starved) this.done.hurry()
        // A suspect that cannot start yet must not make this loop spin: what it waits for pumps again.
        if (taken === slots || (suspects && taken === 1)) this.pumpAgain = true
        this.take(claims)
        this.failures = 0
        if (suspects && taken === 0 && (due.free || due.limited.length > 0)) {
          const others = await claimDue(this.ctx, due, { ...room, slots, suspects: false })
          taken = others.length
          this.take(others)
        }
      } catch (error) {
        this.pumpAgain = false
        this.failed(error, 'claiming failed')
        return
      } finally {
        this.release(slots - taken)
      }
    }
  }

  /** Slots that were blocked for a suspect are free again. */
  private opened(): void {
    this.pump()
    this.door.admit()
  }

  private starve(starved: boolean): void {
    if (starved === this.starved || this.stopping) return
    this.starved = starved
    clearTimeout(this.starving)
    if (starved) this.starving = setTimeout(() => this.door.close(), DOOR_MS).unref()
    else this.door.open()
  }

  private tickIn(ms: number): void {
    if (this.state === 'stopped' || this.state === 'new') return
    const at = performance.now() + ms
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
      this.tickIn(this.tickAgain ? 0 : Math.min(this.ctx.longestPauseMs, this.ctx.leaseMs / 3))
      this.tickAgain = false
    })
    return this.ticking
  }

  /** Renews the leases, records a heartbeat and asks what is due, in one statement. */
  private async tick(): Promise<void> {
    // Answers that have arrived are read first, so that this process knows of their claims.
    if (this.unsureAt !== null) await new Promise((next) => setImmediate(next))
    const { unsureAt } = this
    const unsureMs = unsureAt === null ? null : performance.now() - unsureAt
    const isTime = unsureMs !== null && unsureMs >= UNSURE_MS
    const before = [...this.calls.values()]
    try {
      const { held, jobsDue, waitsDue, nextMs, sole, older, released } = await heartbeat(
        this.ctx,
        before.map(({ claim }) => claim),
        isTime ? unsureMs : null,
      )
      if (isTime && this.unsureAt === unsureAt) this.unsureAt = null
      if (this.unsureAt !== null) this.tickIn(UNSURE_MS)
      if (released > 0) this.ctx.log.info({ jobs: released }, 'released jobs that were claimed without an answer')
      for (const { claim, abort } of before) {
        if (!held.has(claim.generation) && this.calls.has(claim.generation)) abort.abort(new Error('The lease is lost'))
      }
      this.failures = 0
      this.sole = sole
      if (older !== this.older)
        this.ctx.log.info(
          { older },
          older ? 'keeping to what a process of an older release knows' : 'no older release runs',
        )
      this.older = older
      if (jobsDue || released > 0) this.pump()
      if (nextMs !== null) this.dueIn(nextMs)
      this.chores ??= this.doChores(waitsDue).finally(() => {
        this.chores = undefined
      })
    } catch (error) {
      this.failed(error, 'the heartbeat failed')
    }
  }

  /** Runs outside the heartbeats, so that it cannot delay them. */
  private async doChores(waitsDue: boolean): Promise<void> {
    if (this.stopping) return
    try {
      if (waitsDue) await expireWaits(this.ctx)
      if (performance.now() - this.sweptAt < SWEEP_EVERY_MS) return
      this.sweptAt = performance.now()
      await sweepOld(this.ctx, this.options.keepMs)
    } catch (error) {
      this.failed(error, 'the sweep failed')
    }
  }

  private failed(error: unknown, what: string): void {
    this.failures++
    this.unsureAt = performance.now()
    const pause = Math.min(this.ctx.longestPauseMs, 100 * 2 ** Math.min(this.failures, 6))
    this.ctx.log.warn({ error, failures: this.failures }, what)
    this.tickIn(pause)
  }
}
