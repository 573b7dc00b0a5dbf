import { sweepChats } from '@/server/agents/chat-events'
import { now } from '@/server/clock'
import { database } from '@/server/database'
import { sweepEvents } from '@/server/events/sweep'
import { sweepRuns } from '@/server/interpreter/sweep'
import { log } from '@/server/log'
import { sweepIdempotencyKeys } from '@/server/rest/idempotency'
import { deleteOldRuns } from '@/server/runs/delete-old'
import { countAllDays } from '@/server/views/insights/days'
import { sweepWebhooks } from '@/server/webhooks/sweep'
import { inngest } from '../client'

/** Every minute: restarts runs that stalled because an event was lost, and deletes what has expired. */
export const sweep = inngest.createFunction(
  { id: 'sweep', triggers: [{ cron: '* * * * *' }], retries: 0, concurrency: 1 },
  async ({ step }) => {
    await step.run('runs', () => sweepRuns({ db: database().db, log: log(), now }))
    await step.run('idempotency-keys', () => sweepIdempotencyKeys(database().db, now()))
    await step.run('webhooks', () => sweepWebhooks({ db: database().db, log: log(), now }))
    await step.run('events', () => sweepEvents({ db: database().db, log: log(), now }))
    await step.run('chats', () => sweepChats(database().db, now()))
    await step.run('old-runs', () => deleteOldRuns({ db: database().db, log: log(), now }, countAllDays))
  },
)
