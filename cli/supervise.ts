/** Something that runs and may end by itself. */
export interface Supervised {
  exited: Promise<void>
}

interface Supervision<T extends Supervised> {
  /** What a person calls it: `web process`. */
  name: string
  /** Starts one. A rejection means that none runs. */
  start(): Promise<T>
  /** True for a failure of the very first start that another attempt may get past; any other is final. */
  mayPass?(error: unknown): boolean
  log(message: string): void
  /** Aborted when the service is to stop. */
  signal: AbortSignal
}

/** What ran this long was sound: when it ends, the waits begin anew. */
export const QUIET_MS = 20_000
const LONGEST_WAIT_MS = 30_000

/**
 * Keeps a thing running until the service stops: starts it again whenever it ends, at once the first time, then after
 * growing waits, and never gives up.
 * @returns the first one that runs; rejects when none ever did
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
  const stopping = new Promise<void>((done) => {
    if (signal.aborted) done()
    signal.addEventListener('abort', () => done(), { once: true })
  })
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

/** None after the first failure in a while: work that was under way waits for it. */
function waitBefore(failures: number): number {
  return failures === 1 ? 0 : Math.min(1_000 * 2 ** (failures - 2), LONGEST_WAIT_MS)
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms))
}
