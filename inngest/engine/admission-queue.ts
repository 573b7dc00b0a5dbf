import type { Room } from './types'

interface Waiter {
  lane: string | null
  limit: number
  /** @param granted whether it has a slot now */
  settle(granted: boolean): void
}

/**
 * Where starts wait whose callers wait for the run's end anyway. Until a slot is free, nothing is written: a run that
 * is queued costs far more than one that begins at once, so a burst of them would slow down the very work it waits for.
 * Lanes take turns, and the first of a lane comes first.
 */
export class AdmissionQueue {
  /** The lane whose turn it is comes first. */
  private readonly lanes = new Map<string | null, Set<Waiter>>()
  private waiting = 0
  private closed = false

  constructor(
    /** Reserves a slot of a lane, unless it has none left. */
    private readonly reserve: (lane: string | null, limit: number) => boolean,
    /** How many may wait; 0 for any number. */
    private readonly most: number,
  ) {}

  /** @returns true with a slot that is reserved; false if the run is to be queued, like any other */
  async acquire(
    lane: string | null,
    limit: number,
    { ms, signal }: { ms: number; signal: AbortSignal },
  ): Promise<boolean> {
    if (this.closed || ms <= 0 || signal.aborted || this.room(lane) !== 'free') return false
    // A slot may have become free since the caller looked, and nothing else need ever happen.
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

  /** No lane may have more waiting than it leaves room for others. */
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
        // The others come first now.
        if (!this.lanes.delete(lane)) continue
        this.lanes.set(lane, mine)
      }
    }
  }

  /** Jobs have been waiting in the queue for a while, and they come first: so those who wait here are queued behind them. */
  close(): void {
    this.closed = true
    for (const mine of [...this.lanes.values()]) for (const { settle } of [...mine]) settle(false)
  }

  open(): void {
    this.closed = false
    this.grant()
  }
}
