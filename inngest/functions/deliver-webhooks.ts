import { systemContext } from '@/server/context'
import { database } from '@/server/database'
import { log } from '@/server/log'
import { emit } from '@/server/outbox'
import { deliverDue } from '@/server/webhooks/deliver'
import { inngest, webhookDue } from '../client'
import { type DirectCall, runStepOf } from './direct-call'

/** How many of a tenant's endpoints are delivered to concurrently. */
const PER_TENANT = 4
/** After this many, another engine run continues. */
const MAX_BATCHES = 50

/** Delivers the due messages of one endpoint. All its state is in Postgres, so it may run twice or not at all. */
export async function driveDeliveries(call: DirectCall): Promise<void> {
  const { tenantId, endpointId } = webhookDue.schema.parse(call.event.data)
  const ctx = systemContext({ tenantId, db: database().db, log: log().child({ tenantId, endpointId }) })
  const run = runStepOf(call)
  for (let batch = 1; batch <= MAX_BATCHES; batch++) {
    if (!(await run(`batch-${batch}`, () => deliverDue(ctx, endpointId))).more) return
  }
  await run('go-on', () => emit(ctx, 'webhook/endpoint.due', { tenantId, endpointId }))
}

export const deliverWebhooks = inngest.createFunction(
  {
    id: 'deliver-webhooks',
    triggers: [webhookDue],
    // The sweep finds leftovers.
    retries: 10,
    concurrency: [{ key: 'event.data.tenantId', limit: PER_TENANT }],
  },
  driveDeliveries,
)
