/** The pause before the first retry, in ms. It doubles each time. */
const FIRST_PAUSE = 1_000
const LONGEST_PAUSE = 15_000

export interface Surroundings {
  /** Whether the service answers at all, with any status. */
  reachable(): Promise<boolean>
  /** Calls `then` after `ms`, unless the returned function is called before. */
  after(ms: number, then: () => void): () => void
}

export interface Network {
  /**
   * Runs `work`. While the service cannot be reached, it waits and retries instead of failing.
   * @throws the error of `work` if it fails twice although the service answers
   */
  load<T>(work: () => Promise<T>): Promise<T>
  /** Whether any work waits for the network. */
  isAway(): boolean
  /** Retries all waiting work immediately. */
  tryAgain(): void
  /** Calls `listener` whenever `isAway` may have changed, until the returned function is called. */
  subscribe(listener: () => void): () => void
}

export function createNetwork({ reachable, after }: Surroundings): Network {
  const waiting = new Map<object, () => void>()
  const listeners = new Set<() => void>()
  const notify = () => {
    for (const listener of listeners) listener()
  }
  const pause = (key: object, ms: number) =>
    new Promise<void>((done) => {
      const cancel = after(ms, done)
      waiting.set(key, () => {
        cancel()
        done()
      })
      notify()
    })
  async function patient<T>(key: object, work: () => Promise<T>): Promise<T> {
    for (let failures = 0, ms = FIRST_PAUSE; ; ) {
      try {
        return await work()
      } catch (error) {
        if (await reachable()) {
          failures += 1
          if (failures === 2) throw error
        } else {
          // Work still counts as waiting while it is retried, so that its notice does not flicker.
          await pause(key, ms)
          ms = Math.min(ms * 2, LONGEST_PAUSE)
        }
      }
    }
  }
  return {
    load: (work) => {
      const key = {}
      return patient(key, work).finally(() => {
        if (waiting.delete(key)) notify()
      })
    },
    isAway: () => waiting.size > 0,
    tryAgain: () => {
      for (const go of [...waiting.values()]) go()
    },
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
