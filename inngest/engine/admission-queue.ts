import type { Room } from './types'

interface Waiter {
  lane: string | null
  limit: number
  /** @param granted whether it now has a slot */
  settle(granted: boolean): void
}

/**
 * Queue of starts whose callers wait for the run's end anyway. Nothing is written until a slot is free: a queued run
 * costs far more than one that begins at once, so a burst of them would slow down the very work it waits for. Lanes
 * take turns, and each lane is first in, first out.
 */
export class AdmissionQueue {
  /** The lane whose turn it is comes first. */
  private readonly lanes = new Map<string | null, Set<Waiter>>()
  private waiting = 0
  private closed = false

  constructor(
    /** Reserves a slot of a lane, unless none is left. */
    private readonly reserve: (lane: string | null, limit: number) => boolean,
    /** Maximum number of waiting starts; 0 for any number. */
    private readonly most: number,
  ) {}

  /** @returns true with a reserved slot; false if the run should be queued normally */
  async acquire(
    lane: string | null,
    limit: number,
    { ms, signal }: { ms: number; signal: AbortSignal },
  ): Promise<boolean> {
    if (this.closed || ms <= 0 || signal.aborted || this.room(lane) !== 'free') return false
    // A slot may have become free since the caller looked, and no later event might report it.
    if (!this.lanes.has(lane) && this.reserve(lane, limit)) return true
    return new Promise((resolve) => {
      const mine = this.lanes.get(lane) ?? new Set()
      this.lanes.set(lane, mine)
      const settle = (granted: boolean) => {
        clearTimeout(timer)
        signal.removeEventListener('abort', leave)
        this.waiting--
        mine.delete(waiter)
        if (mine.size === 0) this.lanes.delete(lane)
        resolve(granted)
      }
      const leave = () => settle(false)
      const waiter = { lane, limit, settle }
      const timer = setTimeout(leave, ms)
      signal.addEventListener('abort', leave)
      mine.add(waiter)
      this.waiting++
    })
  }

  get anyWaits(): boolean {
    return this.waiting > 0
  }

  /** A lane may have at most as many waiting as it leaves room for others. */
  room(lane: string | null): Room {
    if (this.most === 0) return 'free'
    if (this.waiting >= this.most) return 'full'
    return (this.lanes.get(lane)?.size ?? 0) >= this.most - this.waiting ? 'lane full' : 'free'
  }

  /** A slot may have become free. */
  grant(): void {
    for (let granted = true; granted; ) {
      granted = false
      for (const [lane, mine] of [...this.lanes]) {
        const [first] = mine
        if (!first || !this.reserve(lane, first.limit)) continue
        first.settle(true)
        granted = true
        // The other lanes come first now.
        if (!this.lanes.delete(lane)) continue
        this.lanes.set(lane, mine)
      }
    }
  }

  /** Queued jobs that have waited for a while come first, so the starts waiting here are queued behind them. */
  close(): void {
    this.closed = true
    for (const mine of [...this.lanes.values()]) for (const { settle } of [...mine]) settle(false)
  }

  open(): void {
    this.closed = false
    this.grant()
  }
}
