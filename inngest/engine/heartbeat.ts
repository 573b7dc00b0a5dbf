import type { Calls } from './calls'
import { Chores } from './chores'
import type { EngineContext } from './context'
import { heartbeat } from './presence'
import { RECHECK_AFTER_MS } from './settings'
import { Ticker } from './ticker'

/** By the database's clock a timer may fire slightly early. Slightly late is better than a whole heartbeat late. */
const LATE_MS = 3

type Beat = Awaited<ReturnType<typeof heartbeat>>

/**
 * Shows the other processes that this one lives, and finds its work: leases to renew, due jobs and waits, jobs that a
 * failed statement has claimed.
 */
export class Heartbeat {
  private readonly ticker: Ticker
  private readonly chores: Chores
  private failures = 0
  /** When a statement last failed that may have claimed jobs nevertheless. */
  private unsureAt: number | null = null
  private isSole = false
  private isOlder = false

  constructor(
    private readonly ctx: EngineContext,
    private readonly calls: Calls,
    private readonly on: { jobsDue(): void; stopping(): boolean },
    keepMs: number,
  ) {
    this.ticker = new Ticker(() => this.beat(), Math.min(ctx.longestPauseMs, ctx.leaseMs / 3))
    this.chores = new Chores(ctx, keepMs, {
      stopping: on.stopping,
      failed: (error, what) => this.failed(error, what),
    })
  }

  /** The last heartbeat found no other process. */
  get sole(): boolean {
    return this.isSole
  }

  /** A process of an older release is running, which cannot continue queued runs and native calls. */
  get older(): boolean {
    return this.isOlder
  }

  open(): Promise<void> {
    this.chores.open()
    return this.ticker.open()
  }

  close(): void {
    this.ticker.close()
  }

  /** Settles when no heartbeat is in flight. */
  async settled(): Promise<void> {
    await Promise.all([this.ticker.settled(), this.chores.settled()])
  }

  /** Sends a heartbeat now. */
  hurry(): void {
    this.ticker.tickIn(0)
  }

  dueIn(ms: number): void {
    if (ms < this.ctx.longestPauseMs) this.ticker.tickIn(Math.max(ms, 0) + LATE_MS)
  }

  recheckQueue(): void {
    this.unsureAt = performance.now()
    this.ticker.tickIn(RECHECK_AFTER_MS)
  }

  succeeded(): void {
    this.failures = 0
  }

  failed(error: unknown, what: string): void {
    this.failures++
    this.unsureAt = performance.now()
    const pause = Math.min(this.ctx.longestPauseMs, 100 * 2 ** Math.min(this.failures, 6))
    this.ctx.log.warn({ error, failures: this.failures }, what)
    this.ticker.tickIn(pause)
  }

  /** Renews the leases, records a heartbeat and queries what is due, in one statement. */
  private async beat(): Promise<void> {
    // Answers that have arrived are processed first, so that this process knows their claims.
    if (this.unsureAt !== null) await new Promise((next) => setImmediate(next))
    const { unsureAt } = this
    const unsureMs = unsureAt === null ? null : performance.now() - unsureAt
    const isTime = unsureMs !== null && unsureMs >= RECHECK_AFTER_MS
    const claims = this.calls.claims()
    try {
      const beat = await heartbeat(this.ctx, claims, isTime ? unsureMs : null)
      if (isTime && this.unsureAt === unsureAt) this.unsureAt = null
      if (this.unsureAt !== null) this.ticker.tickIn(RECHECK_AFTER_MS)
      if (beat.released > 0)
        this.ctx.log.info({ jobs: beat.released }, 'released jobs that were claimed without an answer')
      this.calls.lose(claims.filter(({ generation }) => !beat.held.has(generation)))
      this.heard(beat)
    } catch (error) {
      this.failed(error, 'the heartbeat failed')
    }
  }

  private heard({ jobsDue, waitsDue, nextMs, sole, older, released }: Beat): void {
    this.failures = 0
    this.isSole = sole
    if (older !== this.isOlder)
      this.ctx.log.info(
        { older },
        older ? 'keeping to what a process of an older release knows' : 'no older release runs',
      )
    this.isOlder = older
    if (jobsDue || released > 0) this.on.jobsDue()
    if (nextMs !== null) this.dueIn(nextMs)
    this.chores.begin(waitsDue)
  }
}
