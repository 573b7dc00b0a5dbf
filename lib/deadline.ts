/**
 * Ends a piece of work when its caller's signal fires or its time is up, whichever comes first. The code that creates
 * one must release it. This is not `AbortSignal.any`, because Node never frees a combined signal that has listeners,
 * nor anything they refer to.
 */
export class Deadline {
  private readonly ender = new AbortController()
  private readonly timer: NodeJS.Timeout | undefined
  private isLate = false
  private readonly forward = () => this.abort(this.caller?.reason)

  /** @param tooLate makes the signal's reason when time is up */
  constructor(
    private readonly caller: AbortSignal | undefined,
    timeoutMs: number,
    tooLate: () => unknown,
  ) {
    if (caller?.aborted) {
      this.forward()
    } else {
      caller?.addEventListener('abort', this.forward, { once: true })
      this.timer = setTimeout(() => {
        this.isLate = true
        this.ender.abort(tooLate())
      }, timeoutMs)
    }
  }

  get signal(): AbortSignal {
    return this.ender.signal
  }

  /** Whether the work ended because time was up. */
  get late(): boolean {
    return this.isLate
  }

  /**
   * Settles with the work's result, or rejects with the signal's reason as soon as it fires. For work that may ignore
   * the signal.
   */
  async race<T>(work: Promise<T>): Promise<T> {
    const { signal } = this
    let leave = () => {}
    const ended = new Promise<never>((_resolve, reject) => {
      leave = () => reject(signal.reason)
      if (signal.aborted) leave()
      else signal.addEventListener('abort', leave, { once: true })
    })
    work.catch(() => {})
    try {
      return await Promise.race([ended, work])
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  /** Ends the work for another reason. */
  abort(reason: unknown): void {
    clearTimeout(this.timer)
    this.ender.abort(reason)
  }

  /** Detaches from the caller's signal and the timer. Nothing fires any more. */
  release(): void {
    clearTimeout(this.timer)
    this.caller?.removeEventListener('abort', this.forward)
  }

  /** Releases, and aborts any remaining work. */
  end(): void {
    this.release()
    this.ender.abort()
  }
}
