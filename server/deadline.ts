/**
 * The end of a piece of work: its caller's signal, or its time, whichever comes first. Whoever makes one releases it.
 * Not `AbortSignal.any`: Node keeps a combined signal that has listeners, and all they hold, for ever.
 */
export class Deadline {
  private readonly ender = new AbortController()
  private readonly timer: NodeJS.Timeout | undefined
  private isLate = false
  private readonly forward = () => {
    clearTimeout(this.timer)
    this.ender.abort(this.caller?.reason)
  }

  /** @param tooLate makes the reason that the signal gives when time is up */
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

  /** Whether it was the time that ended the work. */
  get late(): boolean {
    return this.isLate
  }

  /** The work's result, or the signal's reason at once: for work that may not heed the signal. */
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

  /** Lets go of the caller's signal. Nothing fires any more. */
  release(): void {
    clearTimeout(this.timer)
    this.caller?.removeEventListener('abort', this.forward)
  }

  /** Releases, and ends what the work has left behind. */
  end(): void {
    this.release()
    this.ender.abort()
  }
}
