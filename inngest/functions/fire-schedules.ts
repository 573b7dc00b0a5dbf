import { now } from '@/server/clock'
import { database } from '@/server/database'
import { log } from '@/server/log'
import { fireDue } from '@/server/schedules/fire'
import { inngest } from '../client'
import { timed } from './sweeps'

/** Every minute: starts the runs of schedules. Separate from the sweeps, so that none of them delays a run. */
export const fireSchedules = inngest.createFunction(
  { id: 'fire-schedules', triggers: [{ cron: '* * * * *' }], retries: 0, concurrency: 1 },
  async ({ step }) =>
    step.run(
      'fire',
      timed(database().db, 'schedules', () => fireDue({ db: database().db, log: log(), now })),
    ),
)
