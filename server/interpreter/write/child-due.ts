import type { ServiceContext } from '../../context'
import { type Outgoing, outgoing } from '../../outbox'
import type { Plan } from '../plan/types'

/**
 * The event of a plan that concerns two runs: a step starts a child run, or a child run ends and its parent's step
 * waits for it. The handler reads both rows, so the event may arrive late, twice or without need.
 */
export function childDue(
  ctx: ServiceContext,
  { tenantId, runId }: { tenantId: string; runId: string },
  { pause, ending, isChild }: Plan,
): Outgoing | null {
  const child = pause?.childRunId ?? (ending && isChild ? runId : undefined)
  return child === undefined ? null : outgoing(ctx, 'workflow/child.due', { tenantId, runId: child })
}
