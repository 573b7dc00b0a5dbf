import { setTimeout as sleep } from 'node:timers/promises'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { parseInput } from '../parse'
import { liveChanges } from './channel'
import { type LiveChange, openPage } from './pages'
import { FollowLive } from './schema'

/** Changes that arrive within this time are told together, and pages do not all read at the same moment. */
const GATHER_MS = 50
const SPREAD_MS = 100
/** After each time a page is told, it is left alone for so long. */
const SHORTEST_REST_MS = 700
/** In a workspace that never stands still: each page reads several lists, and a person has a limit of requests. */
const LONGEST_REST_MS = 5_000
/** With a slow database, a page is told before its process listens, and once more when it does. */
const LONGEST_LISTEN_MS = 2_000
/** A little longer than the transport keeps a stream open: after that, nobody reads any more. */
const LIFETIME_MS = 290_000

/**
 * Tells a page what to read again, as it changes: never the data itself, which each page reads with its person's own rights
 * of that moment. The first event comes at once, because what the page has read may be older.
 * @throws AppError INVALID_INPUT
 */
export async function* followLive(ctx: ServiceContext, input: unknown, left: AbortSignal): AsyncGenerator<LiveChange> {
  authorize(ctx, 'task:read')
  const { tab } = parseInput(FollowLive, input)
  const signal = AbortSignal.any([left, AbortSignal.timeout(LIFETIME_MS)])
  const page = openPage(ctx.tenantId, tab, signal)
  const listening = liveChanges.use()
  try {
    // Told before its process listens, a page would miss changes until it polls.
    await Promise.race([listening.ready, pause(LONGEST_LISTEN_MS, signal)])
    if (signal.aborted) return
    page.take()
    yield { tasks: true, people: true }
    let rest = SHORTEST_REST_MS
    while (!signal.aborted) {
      rest = nextRest(rest, page.isQuiet())
      await page.wait()
      await pause(GATHER_MS + Math.random() * SPREAD_MS, signal)
      if (signal.aborted) return
      yield page.take()
      await pause(rest, signal)
    }
  } finally {
    page.close()
    listening.release()
  }
}

/** @param quiet whether nothing has changed during the rest before */
export function nextRest(rest: number, quiet: boolean): number {
  return quiet ? SHORTEST_REST_MS : Math.min(2 * rest, LONGEST_REST_MS)
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => {})
}
