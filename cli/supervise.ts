/** A service that may end on its own. */
export interface Supervised {
  exited: Promise<void>
}

interface Supervision<T extends Supervised> {
  /** Its name in messages, such as `web process`. */
  name: string
  /** Starts an instance. A rejection means that none is running. */
  start(): Promise<T>
  /** Whether a failure of the very first start may be transient. Any other failure is final. */
  mayPass?(error: unknown): boolean
  log(message: string): void
  /** Aborted when the service should stop. */
  signal: AbortSignal
}

/** An instance that ran this long was healthy: when it ends, the delays start over. */
export const QUIET_MS = 20_000
const LONGEST_WAIT_MS = 30_000

/**
 * Supervises an instance until the service stops. Restarts it whenever it ends, immediately the first time and then
 * after growing delays, and never gives up.
 * @returns the first instance that runs; rejects if none ever did
 */
export function keepRunning<T extends Supervised>(of: Supervision<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    void supervise(of, resolve, reject)
  })
}

async function supervise<T extends Supervised>(
  { name, start, mayPass, log, signal }: Supervision<T>,
  onFirst: (first: T) => void,
  onFailed: (error: unknown) => void,
): Promise<void> {
  const stopping = aborted(signal)
  let first = true
  for (let failures = 0; !signal.aborted; ) {
    let what: string
    try {
      const running = await start()
      if (failures > 0) log(`the ${name} runs again`)
      if (first) onFirst(running)
      first = false
      const startedAt = performance.now()
      await Promise.race([running.exited, stopping])
      if (performance.now() - startedAt >= QUIET_MS) failures = 0
      what = 'ended'
    } catch (error) {
      if (first && !mayPass?.(error)) return onFailed(error)
      what = `did not start (${error instanceof Error ? error.message.replace(/\.$/, '') : String(error)})`
    }
    if (signal.aborted) break
    failures += 1
    const wait = waitBefore(failures)
    const count = failures > 2 ? `, ${failures} times in a row` : ''
    log(`the ${name} ${what}${count}; starting it again ${wait ? `in ${wait / 1_000} s` : 'now'}`)
    await Promise.race([pause(wait), stopping])
  }
  onFailed(signal.reason)
}

/** No delay after the first failure in a while, because work in progress is waiting. */
function waitBefore(failures: number): number {
  return failures === 1 ? 0 : Math.min(1_000 * 2 ** (failures - 2), LONGEST_WAIT_MS)
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms))
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done()
    signal.addEventListener('abort', () => done(), { once: true })
  })
}
