import { sweepChats } from '@/server/agents/chat-events'
import { now } from '@/server/clock'
import { database } from '@/server/database'
import { env } from '@/server/env'
import { sweepEvents } from '@/server/events/sweep'
import { sweepFiles } from '@/server/files/sweep'
import { sweepRuns } from '@/server/interpreter/sweep'
import { log } from '@/server/log'
import { sweepIdempotencyKeys } from '@/server/rest/idempotency'
import { deleteOldRuns } from '@/server/runs/delete-old'
import { fireDue } from '@/server/schedules/fire'
import { countAllDays } from '@/server/views/insights/days'
import { sweepWebhooks } from '@/server/webhooks/sweep'
import { inngest } from '../client'

const FILES_EVERY_MIN = 15

/**
 * All sweeps in one execution, because an Inngest server counts them. A preview sweeps once per hour: its database may
 * sleep in between, and whoever tries it can start its runs again.
 */
export const sweepAll = inngest.createFunction(
  {
    id: 'sweep',
    triggers: [{ cron: env().deployment === 'preview' ? '0 * * * *' : '* * * * *' }],
    retries: 0,
    concurrency: 1,
  },
  async () => {
    const sweep = { db: database().db, log: log(), now }
    const works = [
      // First, because what it starts is already late by the others' time.
      () => fireDue(sweep),
      () => sweepRuns(sweep),
      () => sweepIdempotencyKeys(sweep.db, sweep.now()),
      () => sweepWebhooks(sweep),
      () => sweepEvents(sweep),
      () => sweepChats(sweep.db, sweep.now()),
      () => deleteOldRuns(sweep, countAllDays),
      ...(sweep.now().getMinutes() % FILES_EVERY_MIN === 0 ? [() => sweepFiles(sweep)] : []),
    ]
    const failures: unknown[] = []
    for (const work of works) await work().catch((err: unknown) => failures.push(err))
    if (failures.length > 0) throw failures[0]
  },
)
