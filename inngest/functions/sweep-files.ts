import { now } from '@/server/clock'
import { database } from '@/server/database'
import { sweepFiles } from '@/server/files/sweep'
import { log } from '@/server/log'
import { inngest } from '../client'
import { timed } from './sweeps'

/** Every 15 minutes: deletes uploads that belong to no run. */
export const sweepUnusedFiles = inngest.createFunction(
  { id: 'sweep-files', triggers: [{ cron: '*/15 * * * *' }], retries: 0, concurrency: 1 },
  async ({ step }) =>
    step.run(
      'files',
      timed(database().db, 'files', () => sweepFiles({ db: database().db, log: log(), now })),
    ),
)
