import { setMaxListeners } from 'node:events'
import type { FetchCall, FetchReply, WorkerMessage } from './protocol'

/** Makes a script's call. Do not trust the call: it comes from the script. Rejects only when the signal fires. */
export type ScriptFetch = (call: FetchCall, signal: AbortSignal) => Promise<FetchReply>

/**
 * The `fetch` of one script, on the host: counts its calls, makes them, and aborts those in progress when the script
 * ends. The worker counts too, so that a loop does not flood the port; this count decides.
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
    // Every call adds a listener, and several run concurrently.
    setMaxListeners(maxFetches + 1, this.ender.signal)
  }

  /** Whether the script can only wait for a reply. */
  get waiting(): boolean {
    return this.isWaiting
  }

  waits({ seen }: WorkerMessage & { type: 'waits' }): void {
    // If a reply crossed this message, the script has already resumed.
    this.isWaiting = seen === this.replies && this.replies < this.calls
  }

  /** @param reply called once, unless the script ends first */
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
