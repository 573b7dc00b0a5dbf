/**
 * Repeats a task: at the latest after `longestMs`, and earlier if something is due by then. Never runs twice
 * concurrently.
 */
export class Ticker {
  private isOpen = false
  private at = Number.POSITIVE_INFINITY
  private timer: NodeJS.Timeout | undefined
  private ticking: Promise<void> | undefined
  private again = false

  /** @param tick never rejects */
  constructor(
    private readonly tick: () => Promise<void>,
    private readonly longestMs: number,
  ) {}

  async open(): Promise<void> {
    this.isOpen = true
    await this.tickNow()
  }

  close(): void {
    this.isOpen = false
    clearTimeout(this.timer)
  }

  /** Settles when the task is not running. */
  async settled(): Promise<void> {
    await this.ticking
  }

  tickIn(ms: number): void {
    if (!this.isOpen) return
    const at = performance.now() + ms
    if (at >= this.at) return
    this.at = at
    clearTimeout(this.timer)
    this.timer = setTimeout(() => {
      this.at = Number.POSITIVE_INFINITY
      void this.tickNow()
    }, ms)
  }

  private tickNow(): Promise<void> {
    if (this.ticking) this.again = true
    this.ticking ??= this.tick().finally(() => {
      this.ticking = undefined
      this.tickIn(this.again ? 0 : this.longestMs)
      this.again = false
    })
    return this.ticking
  }
}
