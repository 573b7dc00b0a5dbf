import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseUnavailable, isUnavailable, refusedSetting, rootOf } from './deadline'

/** How long a start waits for its database: a crashed one recovers first, and in a compose file both start together. */
export const START_PATIENCE_MS = 60_000
const RETRY_MS = 200

interface Wait {
  patienceMs?: number
  /** Called with the reason, once per distinct reason. */
  onWait(reason: string): void
  signal?: AbortSignal
}

/**
 * Does the work, retrying while the database is starting, recovering or out of reach. Throws any other failure.
 * @throws DatabaseUnavailable when patience runs out
 */
export async function whenAvailable<T>(work: () => Promise<T>, { onWait, signal, ...options }: Wait): Promise<T> {
  const { patienceMs = START_PATIENCE_MS } = options
  const giveUpAt = performance.now() + patienceMs
  for (const logged = new Set<string>(); ; ) {
    try {
      return await work()
    } catch (error) {
      if (!isUnavailable(error)) throw error
      const reason = reasonOf(error)
      if (performance.now() > giveUpAt) {
        const message = `The database could not be used within ${Math.round(patienceMs / 1_000)} s: ${reason}.`
        throw new DatabaseUnavailable(message, { cause: error })
      }
      // The next connection opens without that setting: nobody waits.
      if (!logged.has(reason) && refusedSetting(error) === undefined) onWait(reason)
      logged.add(reason)
      await sleep(RETRY_MS, undefined, signal ? { signal } : {})
    }
  }
}

/** The reason that the database or the connection reported. */
export function reasonOf(error: unknown): string {
  const at = rootOf(error)
  if (!(at instanceof Error)) return String(at)
  // Node gives no message when a name has several addresses and all of them refused.
  const text = at.message || ('code' in at ? String(at.code) : at.name)
  return text.replace(/\.$/, '')
}
