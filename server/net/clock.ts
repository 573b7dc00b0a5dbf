import { OutboundFailure } from './outbound-failure'

/** What is left of a call's time. */
export class Clock {
  private readonly controller = new AbortController()
  private readonly timer: NodeJS.Timeout
  private readonly forward = () => {
    clearTimeout(this.timer)
    this.controller.abort(this.caller?.reason)
  }

  constructor(
    timeoutMs: number,
    private readonly caller: AbortSignal | undefined,
  ) {
    const late = () => this.controller.abort(new OutboundFailure('TIMEOUT', `No answer within ${timeoutMs} ms.`))
    this.timer = setTimeout(late, timeoutMs)
    if (caller?.aborted) this.forward()
    else caller?.addEventListener('abort', this.forward, { once: true })
  }

  get signal(): AbortSignal {
    return this.controller.signal
  }

  stop(): void {
    clearTimeout(this.timer)
    this.caller?.removeEventListener('abort', this.forward)
  }

  /** For work that does not heed the signal, such as a name lookup. */
  async race<T>(work: Promise<T>): Promise<T> {
    const { signal } = this
    let leave = () => {}
    const aborted = new Promise<never>((_resolve, reject) => {
      leave = () => reject(signal.reason)
      if (signal.aborted) leave()
      else signal.addEventListener('abort', leave, { once: true })
    })
    work.catch(() => {})
    try {
      return await Promise.race([aborted, work])
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  explain(err: unknown): unknown {
    if (this.signal.aborted) return this.signal.reason
    if (err instanceof OutboundFailure) return err
    const code = err instanceof Error && 'code' in err ? ` (${String(err.code)})` : ''
    return new OutboundFailure('CONNECTION_ERROR', `The server could not be reached${code}.`, { cause: err })
  }
}
