import { AdmissionQueue } from './admission-queue'
import { Calls, type Execute } from './calls'
import type { Claim, EngineContext, Scheduler } from './context'
import { Finished } from './finished'
import { Heartbeat } from './heartbeat'
import { releaseClaim, releaseClaims } from './jobs'
import { Notifier } from './notifier'
import { registerWorker } from './presence'
import { Pump } from './pump'
import { Slots } from './slots'
import type { EngineOptions } from './types'

/** The long-lived part of a process: claims due jobs, renews leases and continues after any failure. */
export class Worker implements Scheduler {
  readonly ctx: EngineContext
  readonly calls: Calls
  readonly admissions: AdmissionQueue
  private state: 'new' | 'running' | 'stopping' | 'stopped' = 'new'
  private readonly slots: Slots
  private readonly pump: Pump
  private readonly heartbeat: Heartbeat
  private readonly done: Finished
  private readonly notifier: Notifier
  private listening: { close(): void } | undefined

  constructor(
    base: Omit<EngineContext, 'scheduler'>,
    execute: Execute,
    private readonly options: { slots: number; keepMs: number; mostWaiting: number } & Pick<EngineOptions, 'listen'>,
  ) {
    const stopping = () => this.stopping
    this.ctx = { ...base, scheduler: this }
    this.slots = new Slots(options.slots, () => this.opened())
    this.admissions = new AdmissionQueue((lane, limit) => this.reserveFor(lane, limit), options.mostWaiting)
    this.calls = new Calls(this.ctx, this.slots, execute, { stopping, freed: (lane) => this.freed(lane) })
    this.pump = new Pump(this.ctx, this.slots, this.admissions, {
      starved: () => this.done.hurry(),
      claimed: () => this.heartbeat.succeeded(),
      failed: (error, what) => this.heartbeat.failed(error, what),
    })
    this.heartbeat = new Heartbeat(this.ctx, this.calls, { jobsDue: () => this.pump.check(), stopping }, options.keepMs)
    this.done = new Finished(
      this.ctx,
      () => this.pump.starved && this.pump.check(),
      () => this.pump.starved || this.stopping,
    )
    this.notifier = new Notifier(base.sql, 'engine', base.log)
  }

  get stopping(): boolean {
    return this.state === 'stopping' || this.state === 'stopped'
  }

  get older(): boolean {
    return this.heartbeat.older
  }

  async open(): Promise<void> {
    if (this.state !== 'new') return
    await registerWorker(this.ctx)
    this.state = 'running'
    this.pump.open()
    this.listening = this.options.listen('engine', () => this.pump.check())
    await this.heartbeat.open()
  }

  async stop(graceMs: number): Promise<void> {
    if (this.state !== 'running') return
    this.state = 'stopping'
    await this.pump.close()
    await this.calls.drain(graceMs)
    this.state = 'stopped'
    this.heartbeat.close()
    this.slots.close()
    this.listening?.close()
    this.calls.abortAll()
    await Promise.all([this.heartbeat.settled(), this.done.settled()])
    try {
      await releaseClaims(this.ctx)
    } catch (error) {
      this.ctx.log.warn({ error }, 'claims could not be released; their leases will end')
    }
  }

  reserve(wanted: number): number {
    return this.state === 'running' ? this.slots.reserve(wanted) : 0
  }

  release(slots: number): void {
    this.slots.release(slots)
    this.admissions.grant()
  }

  reserveFor(lane: string | null, limit: number): boolean {
    // Jobs that already wait come first.
    return this.state === 'running' && !this.pump.starved && this.slots.reserveFor(lane, limit)
  }

  releaseFrom(lane: string | null): void {
    this.slots.releaseFor(lane)
    if (this.pump.starved) this.pump.check()
    else this.admissions.grant()
  }

  recheckQueue(): void {
    this.heartbeat.recheckQueue()
  }

  start(claim: Claim): void {
    this.slots.releaseFor(claim.lane)
    // While the engine is stopping, work begun with the claim still runs.
    if (this.state === 'running' || this.state === 'stopping') {
      this.calls.begin(claim)
      return
    }
    releaseClaim(this.ctx, claim).catch((error: unknown) =>
      this.ctx.log.warn({ error, jobId: claim.jobId }, 'a claim could not be released; its lease will end'),
    )
  }

  take(claims: Claim[]): void {
    this.slots.release(claims.length)
    for (const claim of claims) this.calls.begin(claim)
  }

  wake(): void {
    if (this.state === 'running' && this.slots.free > 0) this.pump.check()
    else {
      this.pump.starve(true)
      this.notifier.notify()
    }
  }

  dueIn(ms: number): void {
    this.heartbeat.dueIn(ms)
  }

  finished(claim: Claim): void {
    this.done.add(claim)
  }

  ended(runId: string): void {
    this.calls.endRun(runId)
  }

  /** Checks for due work now. */
  kick(): void {
    if (this.state !== 'running') return
    this.pump.check()
    this.heartbeat.hurry()
  }

  /** Slots that were blocked for a suspect are free again. */
  private opened(): void {
    this.pump.check()
    this.admissions.grant()
  }

  /** The slot of a finished call is free again. */
  private freed(lane: string | null): void {
    this.admissions.grant()
    // Another process may have left a job of this lane in the queue, because the lane had reached its limit.
    if (this.pump.starved || (lane !== null && !this.heartbeat.sole)) this.pump.check()
  }
}
