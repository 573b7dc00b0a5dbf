import { Deadline } from '@/lib/deadline'
import { env } from '../env'
import { ModelFailure } from '../models/failure'

export interface TimeLimits {
  signal: AbortSignal
  /** In `performance.now()` time. */
  deadline: number
}

/**
 * Lets a turn take the time that one may take.
 * @param late what a turn that takes longer has not done
 * @throws ModelFailure if it takes longer
 */
export async function inTime<T>(
  provider: string,
  caller: AbortSignal,
  work: (limits: TimeLimits) => Promise<T>,
  late = "and the agent's tools did not finish",
): Promise<T> {
  const limitMs = env().AGENT_TIMEOUT_MS
  const limit = new Deadline(caller, limitMs, () => new DOMException('The turn took too long', 'TimeoutError'))
  const { signal } = limit
  try {
    return await work({ signal, deadline: performance.now() + limitMs })
  } catch (err) {
    if (!limit.late) throw err
    throw new ModelFailure(provider, `${late} within ${limitMs} ms`, { transient: true })
  } finally {
    limit.release()
  }
}
