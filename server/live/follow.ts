import { setTimeout as sleep } from 'node:timers/promises'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { parseInput } from '../parse'
import { liveChanges } from './channel'
import { type LiveChange, openPage } from './pages'
import { FollowLive } from './schema'

/** Batches changes that arrive within this time. The random spread keeps pages from reading all at the same moment. */
const GATHER_MS = 50
const SPREAD_MS = 100
/** The minimum pause between two events of a page. */
const SHORTEST_REST_MS = 700
/** The maximum in a busy workspace: each page reads several lists, and each person has a request limit. */
const LONGEST_REST_MS = 5_000
/** With a slow database, a page gets its first event before its process listens, and another one once it does. */
const LONGEST_LISTEN_MS = 2_000
/** A little longer than the transport holds a stream open: after that, nobody reads. */
const LIFETIME_MS = 290_000

/**
 * Streams to a page what to reload as it changes: never the data itself, which each page reads with its person's rights
 * at that moment. The first event comes immediately, because the page's data may be stale.
 * @throws AppError INVALID_INPUT
 */
export async function* followLive(ctx: ServiceContext, input: unknown, left: AbortSignal): AsyncGenerator<LiveChange> {
  authorize(ctx, 'task:read')
  const { tab } = parseInput(FollowLive, input)
  const signal = AbortSignal.any([left, AbortSignal.timeout(LIFETIME_MS)])
  const page = openPage(ctx.tenantId, tab, signal)
  const listening = liveChanges.use()
  try {
    // An event sent before its process listens would lose the changes in between until the page polls.
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

/** @param quiet whether nothing changed during the previous rest */
export function nextRest(rest: number, quiet: boolean): number {
  return quiet ? SHORTEST_REST_MS : Math.min(2 * rest, LONGEST_REST_MS)
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => {})
}
