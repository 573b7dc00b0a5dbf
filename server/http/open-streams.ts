import { processWide } from '@/db/process-wide'
import { type Env, env } from '../env'
import { AppError } from '../errors'

/** A stream ends with its run or chat, so the time when another one can be opened is unknown. */
const RETRY_AFTER_S = 5

const open = () => processWide('open-streams', () => ({ total: 0, ofTenant: new Map<string, number>() }))

/** The share of the places that is open to streams which pages can do without. */
const SPARE = 0.5

/**
 * Counts a new event stream towards the limits of this process.
 * @param options.spare whether it has to leave half of the places to others
 * @returns a function that ends the count; further calls do nothing
 * @throws AppError TOO_MANY_STREAMS
 */
export function reserveStream(
  tenantId: string,
  { spare = false }: { spare?: boolean } = {},
  { STREAMS_PER_TENANT, STREAMS_TOTAL }: Pick<Env, 'STREAMS_PER_TENANT' | 'STREAMS_TOTAL'> = env(),
): () => void {
  const share = spare ? SPARE : 1
  const state = open()
  const own = state.ofTenant.get(tenantId) ?? 0
  if (own >= STREAMS_PER_TENANT * share)
    throw tooMany(`The workspace has ${own} event streams open, as many as it may have.`)
  if (state.total >= STREAMS_TOTAL * share) throw tooMany('The service has as many event streams open as it can carry.')
  state.ofTenant.set(tenantId, own + 1)
  state.total += 1
  let given = false
  return () => {
    if (given) return
    given = true
    state.total -= 1
    const left = (state.ofTenant.get(tenantId) ?? 1) - 1
    if (left > 0) state.ofTenant.set(tenantId, left)
    else state.ofTenant.delete(tenantId)
  }
}

function tooMany(message: string): AppError {
  return new AppError('TOO_MANY_STREAMS', {
    headers: { 'retry-after': String(RETRY_AFTER_S) },
    details: [{ message: `${message} Close some, or poll instead.` }],
  })
}

/**
 * Passes the events through, and calls `onEnd` after the last one or when the reader leaves.
 * @param lost ends the events, and the reader gets its reason as an error
 */
export function watchEnd<T>(events: AsyncIterable<T>, onEnd: () => void, lost?: AbortSignal): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const iterator = events[Symbol.asyncIterator]()
      const told = async (step: Promise<IteratorResult<T>>) => {
        try {
          const result = await step
          if (lost?.aborted) throw lost.reason
          if (result.done) onEnd()
          return result
        } catch (err) {
          onEnd()
          throw err
        }
      }
      return {
        next: () => told(iterator.next()),
        // A generator that was never started ends without running its own `finally`.
        return: async (value?: unknown) => {
          onEnd()
          return (await iterator.return?.(value)) ?? { done: true, value: undefined as T }
        },
      }
    },
  }
}
