import { setTimeout as sleep } from 'node:timers/promises'
import { startedWorkIsFirst } from '@/db/index'
import type { Sliced } from '../../definition/sliced'
import { inSlices } from '../../give-way'
import { startsWait } from '../../outbox'
import type { Came, Compute } from './source'
import { Cut, type Ended, type Walk } from './walk'

const PAUSE_MS = 20

/** The maximum cost of a walk. */
export interface Budget {
  visits: number
  /** Of the processor's time, without the steps that it computes. */
  ms: number
  /** How long all that it computes may take. */
  computeMs: number
}

/** The time was over before the walk had ended. */
export class Late extends Error {
  override name = 'Late'
}

/**
 * Follows a walk to its end, in slices in which tenants take turns, and computes what it asks for.
 * @param until when it must have ended
 * @throws Cut if it costs too much; Undetermined if what it computes takes too long; Late
 */
export async function drive(
  tenantId: string,
  walk: Walk,
  budget: Budget,
  until = Number.POSITIVE_INFINITY,
): Promise<Ended> {
  const left = { ...budget }
  for (let came: Came | undefined; ; ) {
    const reached = await inSlices(tenantId, untilWork(walk, came, left, until), { pause: pauseForStarts })
    if ('state' in reached) return reached
    const began = performance.now()
    came = await reached.compute(Math.min(left.computeMs, until - began)).catch((err: unknown) => {
      // Timers have no parts of milliseconds.
      throw until - performance.now() < 1 ? new Late() : err
    })
    left.computeMs -= performance.now() - began
  }
}

/** Waits while starts wait, or one was refused a moment ago: a replay is never urgent. */
function pauseForStarts(): Promise<unknown> | undefined {
  return startsWait() || startedWorkIsFirst() ? sleep(PAUSE_MS) : undefined
}

function* untilWork(
  walk: Walk,
  given: Came | undefined,
  left: Budget,
  until: number,
): Sliced<Ended | { compute: Compute }> {
  let spent = 0
  for (let came = given; ; came = undefined) {
    const { done, value } = walk.next(came)
    if (done) return value
    if (value) {
      left.ms -= spent
      return { compute: value }
    }
    spent = yield
    if (performance.now() > until) throw new Late()
    if (--left.visits < 0 || spent > left.ms) throw new Cut()
  }
}
