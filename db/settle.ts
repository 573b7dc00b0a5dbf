import { MAX_ROWS } from './batch-statement'
import { shared } from './shared'

/** How many callers go on in one turn of the event loop, so that what else has arrived does not wait for all of them. */
const MAX_PER_TURN = 16

/** For so long, work that has begun goes before what arrives: callers of a statement go on all at once. */
export function preferStartedWork(ms: number): void {
  shared().startedWorkFirstUntil = performance.now() + ms
}

const mostPerTurn = () => (performance.now() < shared().startedWorkFirstUntil ? MAX_ROWS : MAX_PER_TURN)

/** Who goes on in one of the next turns, and how many have gone on in this one. */
const next: (() => void)[] = []
let inThisTurn = 0

/** Whether callers whose rows have been sent have yet to go on. */
export function settling(): boolean {
  return next.length > 0
}

/** Has a caller of a statement go on, now or in one of the next turns of the event loop. */
export function settleCaller(caller: () => void): void {
  if (inThisTurn === 0) setImmediate(settleMore)
  if (inThisTurn < mostPerTurn()) {
    inThisTurn++
    caller()
  } else next.push(caller)
}

function settleMore(): void {
  const now = next.splice(0, mostPerTurn())
  inThisTurn = now.length
  if (now.length > 0) setImmediate(settleMore)
  for (const caller of now) caller()
}
