import { systemContext } from '@/server/context'
import { database } from '@/server/database'
import { log } from '@/server/log'
import { settleChild } from '@/server/runs/children'
import { childIsDue, inngest } from '../client'
import { type DirectCall, runStepOf } from './direct-call'

const PER_TENANT = 4

/**
 * Starts or stops a child run, or passes its result to the waiting step of the parent run. All its state is in
 * Postgres.
 */
export async function driveChild(call: DirectCall): Promise<void> {
  const { tenantId, runId } = childIsDue.schema.parse(call.event.data)
  const ctx = systemContext({ tenantId, db: database().db, log: log().child({ tenantId }) })
  await runStepOf(call)('settle', () => settleChild(ctx, runId))
}

export const settleChildren = inngest.createFunction(
  {
    id: 'settle-children',
    triggers: [childIsDue],
    // The sweep finds leftovers.
    retries: 10,
    concurrency: [{ key: 'event.data.tenantId', limit: PER_TENANT }],
  },
  driveChild,
)
