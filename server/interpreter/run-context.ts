import { type ServiceContext, systemContext } from '../context'
import type { RunRow } from '../run-store/walk-data'

/** The context of a run's steps: its tenant, with the run as the caller. */
export function contextOf(ctx: ServiceContext, { context, startedBy }: Pick<RunRow, 'context' | 'startedBy'>) {
  return systemContext({ ...ctx, trusted: context }, startedBy)
}
