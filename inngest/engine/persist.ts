import type { EngineContext } from './context'
import { failureKindOf, messageOf } from './errors'
import { FAULT_TRIES } from './settings'

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2000

/**
 * Writes a call's outcome. Waits as long as the database is unavailable, since an outage must not lose the result; the
 * fence makes a late write harmless. Throws immediately if Postgres refuses the data, and after `FAULT_TRIES` attempts
 * for an unknown fault.
 */
export async function persist<T>(ctx: EngineContext, signal: AbortSignal, write: () => Promise<T>): Promise<T> {
  let faults = 0
  for (let failures = 1; ; failures++) {
    try {
      return await write()
    } catch (error) {
      const trouble = failureKindOf(error)
      if (trouble === 'fault') faults++
      if (signal.aborted || trouble === 'refused' || faults >= FAULT_TRIES) throw error
      ctx.log.warn({ error: messageOf(error), trouble, failures }, 'a result could not be written yet')
      const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1))
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
}
