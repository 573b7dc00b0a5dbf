import type { ServiceContext } from '../context'
import { type Outgoing, outgoing } from '../outbox'
import type { Plan } from './plan'

/**
 * The event of a plan that concerns two runs: a step starts one, or one ends whose end a step of another waits for. What
 * handles it looks at both, so it may come late, twice or for nothing.
 */
export function childDue(
  ctx: ServiceContext,
  { tenantId, runId }: { tenantId: string; runId: string },
  { pause, ending, isChild }: Plan,
): Outgoing | null {
  const child = pause?.childRunId ?? (ending && isChild ? runId : undefined)
  return child === undefined ? null : outgoing(ctx, 'workflow/child.due', { tenantId, runId: child })
}
