import { systemContext } from '@/server/context'
import { database } from '@/server/database'
import { type Cursor, deliverEvent } from '@/server/events/deliver'
import { log } from '@/server/log'
import { eventPosted, inngest } from '../client'
import { type DirectCall, runStepOf } from './direct-call'

const PER_TENANT = 4

/** Offers an event to the runs that wait for it, a batch at a time. All its state is in Postgres. */
export async function driveEvent(call: DirectCall): Promise<void> {
  const { tenantId, seq } = eventPosted.schema.parse(call.event.data)
  const ctx = systemContext({ tenantId, db: database().db, log: log().child({ tenantId }) })
  const run = runStepOf(call)
  let cursor: Cursor | null = null
  for (let batch = 1; ; batch++) {
    const from: Cursor | null = cursor
    cursor = await run(`batch-${batch}`, () => deliverEvent(ctx, seq, from))
    if (cursor === null) return
  }
}

export const deliverEvents = inngest.createFunction(
  {
    id: 'deliver-events',
    triggers: [eventPosted],
    // The sweep finds leftovers.
    retries: 10,
    concurrency: [{ key: 'event.data.tenantId', limit: PER_TENANT }],
  },
  driveEvent,
)
