import { setTimeout as sleep } from 'node:timers/promises'
import { startedWorkIsFirst } from '@/db/index'
import type { Sliced } from '../../definition/sliced'
import { inSlices } from '../../give-way'
import { startsWait } from '../../outbox'
import type { Came, Compute } from './source'
import { Cut, type Ended, type Walk } from './walk'

const PAUSE_MS = 20

/** The maximum cost of a walk; computed steps have limits of their own. */
export interface Budget {
  visits: number
  ms: number
}

/**
 * Follows a walk to its end, in slices in which tenants take turns, and computes what it asks for.
 * @throws Cut if it costs too much
 */
export async function drive(tenantId: string, walk: Walk, budget: Budget): Promise<Ended> {
  const left = { ...budget }
  for (let came: Came | undefined; ; ) {
    const reached = await inSlices(tenantId, untilWork(walk, came, left), { pause: pauseForStarts })
    if ('state' in reached) return reached
    came = await reached.compute()
  }
}

/** Waits while starts wait, or one was refused a moment ago: a replay is never urgent. */
function pauseForStarts(): Promise<unknown> | undefined {
  return startsWait() || startedWorkIsFirst() ? sleep(PAUSE_MS) : undefined
}

function* untilWork(walk: Walk, given: Came | undefined, left: Budget): Sliced<Ended | { compute: Compute }> {
  let spent = 0
  for (let came = given; ; came = undefined) {
    const { done, value } = walk.next(came)
    if (done) return value
    if (value) {
      left.ms -= spent
      return { compute: value }
    }
    spent = yield
    if (--left.visits < 0 || spent > left.ms) throw new Cut()
  }
}
