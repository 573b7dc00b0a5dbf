import { setMaxListeners } from 'node:events'
import type { FetchCall, FetchReply, WorkerMessage } from './protocol'

/** Makes a script's call, whatever it is worth: the caller is not to be trusted. Rejects only when the signal fires. */
export type ScriptFetch = (call: FetchCall, signal: AbortSignal) => Promise<FetchReply>

/**
 * The way out of one script: counts its calls, makes them, and breaks off those under way when the script has ended.
 * The worker counts too, so that a loop does not fill the port; this is the count that holds whatever a worker says.
 */
export class FetchRelay {
  private readonly ender = new AbortController()
  private calls = 0
  private replies = 0
  private isWaiting = false

  constructor(
    private readonly fetch: ScriptFetch,
    private readonly maxFetches: number,
  ) {
    // Each call listens, and has others beside it.
    setMaxListeners(maxFetches + 1, this.ender.signal)
  }

  /** Whether the script can do nothing but wait for a reply. */
  get waiting(): boolean {
    return this.isWaiting
  }

  waits({ seen }: WorkerMessage & { type: 'waits' }): void {
    // A reply that crossed this message on its way has woken the script by now.
    this.isWaiting = seen === this.replies && this.replies < this.calls
  }

  /** @param reply is called once, unless the script ends before */
  call({ call }: WorkerMessage & { type: 'fetch' }, reply: (reply: FetchReply) => void): void {
    const answer = (said: FetchReply) => {
      if (this.ender.signal.aborted) return
      this.replies += 1
      this.isWaiting = false
      reply(said)
    }
    this.calls += 1
    if (this.calls > this.maxFetches) answer(failed(`A script may call fetch ${this.maxFetches} times`))
    else this.fetch(call, this.ender.signal).then(answer, () => answer(failed('The call failed')))
  }

  close(): void {
    this.isWaiting = false
    this.ender.abort()
  }
}

function failed(message: string): FetchReply {
  return { failure: { code: 'EXECUTION_ERROR', message, transient: false } }
}
