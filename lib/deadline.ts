/**
 * Ends a piece of work when its caller's signal fires or its time is up, whichever comes first. The code that creates
 * one must release it. This is not `AbortSignal.any`, because Node never frees a combined signal that has listeners,
 * nor anything they refer to.
 */
export class Deadline {
  /** Created when someone asks for the signal or it fires. Most work does neither, and a signal costs more than a timer. */
  private ender: AbortController | undefined
  private readonly racing = new Set<() => void>()
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
        this.fire(tooLate())
      }, timeoutMs)
    }
  }

  get signal(): AbortSignal {
    this.ender ??= new AbortController()
    return this.ender.signal
  }

  get aborted(): boolean {
    return this.ender?.signal.aborted ?? false
  }

  /** Throws the signal's reason if it has fired. */
  throwIfAborted(): void {
    this.ender?.signal.throwIfAborted()
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
    let leave = () => {}
    const ended = new Promise<never>((_resolve, reject) => {
      leave = () => reject(this.signal.reason)
    })
    if (this.aborted) leave()
    else this.racing.add(leave)
    work.catch(() => {})
    try {
      return await Promise.race([ended, work])
    } finally {
      this.racing.delete(leave)
    }
  }

  /** Lets the work take the time that it needs; the caller's signal still ends it. */
  lift(): void {
    clearTimeout(this.timer)
  }

  /** Ends the work for another reason. */
  abort(reason: unknown): void {
    clearTimeout(this.timer)
    this.fire(reason)
  }

  /** Detaches from the caller's signal and the timer. Nothing fires any more. */
  release(): void {
    clearTimeout(this.timer)
    this.caller?.removeEventListener('abort', this.forward)
  }

  /** Releases, and aborts any remaining work. */
  end(): void {
    this.release()
    this.fire()
  }

  private fire(reason?: unknown): void {
    this.ender ??= new AbortController()
    this.ender.abort(reason)
    for (const leave of this.racing) leave()
  }
}
