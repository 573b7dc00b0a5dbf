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
    const sweep = { db: database().db, log: log(), now }
    const works: [string, () => Promise<unknown>][] = [
      ['runs', () => sweepRuns(sweep)],
      ['idempotency-keys', () => sweepIdempotencyKeys(sweep.db, now())],
      ['webhooks', () => sweepWebhooks(sweep)],
      ['events', () => sweepEvents(sweep)],
      ['chats', () => sweepChats(sweep.db, now())],
      ['old-runs', () => deleteOldRuns(sweep, countAllDays)],
    ]
    const failures: unknown[] = []
    for (const [name, work] of works) await step.run(name, work).catch((err: unknown) => failures.push(err))
    if (failures.length > 0) throw failures[0]
  },
)
