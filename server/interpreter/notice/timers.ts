import type { ServiceContext } from '../../context'
import { dueTimer } from '../../due-timer'

/** For pauses and runs with a due time. */
export const { watch: watchNext, dueBy } = dueTimer('interpreter')

/** A pause, by its run and its id. */
interface OfPause {
  tenantId: string
  runId: string
  id: string
}
type LookSoon = (ctx: ServiceContext, waiting: OfPause) => void

let lookSoon: LookSoon | undefined

/** Sets how a wait for an event looks for earlier events. `wait/events` sets it when it is loaded. */
export function lookSoonWith(how: LookSoon): void {
  lookSoon = how
}

/** Watches a pause that was just committed: for its due time, and for events that arrived before it. */
export function watchPause(
  ctx: ServiceContext,
  { tenantId, runId }: Pick<OfPause, 'tenantId' | 'runId'>,
  { id, dueAt, event }: { id: string; dueAt?: Date | null | undefined; event?: object | undefined },
): void {
  if (dueAt) dueBy(dueAt)
  if (event) lookSoon?.(ctx, { tenantId, runId, id })
}
