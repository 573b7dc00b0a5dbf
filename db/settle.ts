import { MAX_ROWS } from './batch-statement'
import { shared } from './shared'

/**
 * How many callers continue per turn of the event loop, so that requests that have arrived do not wait for all of them.
 */
const MAX_PER_TURN = 16

/** For this long, accepted work takes priority: all callers of a statement continue together. */
export function preferStartedWork(ms: number): void {
  shared().startedWorkFirstUntil = performance.now() + ms
}

/** Whether accepted work takes priority now, because a start was refused a moment ago. */
export function startedWorkIsFirst(): boolean {
  return performance.now() < shared().startedWorkFirstUntil
}

const mostPerTurn = () => (startedWorkIsFirst() ? MAX_ROWS : MAX_PER_TURN)

/** The callers that continue in later turns, and how many have continued in this one. */
const next: (() => void)[] = []
let inThisTurn = 0

/** Whether callers whose rows have been sent have not continued yet. */
export function settling(): boolean {
  return next.length > 0
}

/** Lets a caller of a statement continue, in this turn of the event loop or a later one. */
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
