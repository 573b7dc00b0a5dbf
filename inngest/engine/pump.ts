import type { AdmissionQueue } from './admission-queue'
import { claimDue, lookAround } from './claim'
import type { EngineContext } from './context'
import { CLOSE_AFTER_MS } from './settings'
import type { Slots } from './slots'

/** Claims due jobs while there are free slots. */
export class Pump {
  private state: 'new' | 'open' | 'closed' = 'new'
  private claiming: Promise<void> | undefined
  private again = false
  private isStarved = false
  /** Called when more is due than there are free slots. */
  private closing: NodeJS.Timeout | undefined

  constructor(
    private readonly ctx: EngineContext,
    private readonly slots: Slots,
    private readonly admissions: AdmissionQueue,
    private readonly on: {
      /** Due jobs wait until ended ones have been removed. */
      starved(): void
      claimed(): void
      failed(error: unknown, what: string): void
    },
  ) {}

  /** More was due than there were free slots, so the next call that ends checks again. */
  get starved(): boolean {
    return this.isStarved
  }

  open(): void {
    this.state = 'open'
  }

  /** Settles when no claim is in progress. Nobody waits for a slot any more. */
  async close(): Promise<void> {
    this.state = 'closed'
    clearTimeout(this.closing)
    this.admissions.close()
    await this.claiming
  }

  /** Work may be due. */
  check(): void {
    if (this.state !== 'open') return
    this.again = true
    this.claiming ??= this.claimAll().finally(() => {
      this.claiming = undefined
      // Another check was requested between the last check and this line.
      if (this.again) this.check()
    })
  }

  starve(starved: boolean): void {
    if (starved === this.isStarved || this.state === 'closed') return
    this.isStarved = starved
    clearTimeout(this.closing)
    if (starved) this.closing = setTimeout(() => this.admissions.close(), CLOSE_AFTER_MS).unref()
    else this.admissions.open()
  }

  private async claimAll(): Promise<void> {
    const { scheduler } = this.ctx
    while (this.again && this.state === 'open') {
      this.again = false
      const { free, shared } = this.slots
      if (free <= 0) {
        this.starve(true)
        return
      }
      // Half of the slots stay open for runs inserted already claimed meanwhile.
      const slots = scheduler.reserve(Math.ceil(free / 2))
      let taken = 0
      try {
        taken = await this.claim(slots, shared)
      } catch (error) {
        this.again = false
        this.on.failed(error, 'claiming failed')
        return
      } finally {
        scheduler.release(slots - taken)
      }
    }
  }

  /** @returns how many of the reserved slots were taken */
  private async claim(slots: number, shared: number): Promise<number> {
    const { scheduler } = this.ctx
    const due = await lookAround(this.ctx)
    const suspects = due.suspects && this.slots.suspect === undefined
    // From here on nothing is reserved for a lane, or it could exceed its limit: this claim and such a reservation do
    // not see each other.
    if (due.limited.length > 0) this.starve(true)
    const room = { shared, served: this.slots.served(), reserved: this.slots.reservedByLane() }
    const claims = await claimDue(this.ctx, due, { ...room, slots: suspects ? 1 : slots, suspects })
    const taken = claims.length
    this.starve(taken === slots || due.limited.length > 0)
    if (this.isStarved) this.on.starved()
    // A suspect that cannot start yet must not make this loop spin: it starts after a later check.
    if (taken === slots || (suspects && taken === 1)) this.again = true
    scheduler.take(claims)
    this.on.claimed()
    if (!suspects || taken > 0 || !(due.free || due.limited.length > 0)) return taken
    const others = await claimDue(this.ctx, due, { ...room, slots, suspects: false })
    scheduler.take(others)
    return others.length
  }
}
