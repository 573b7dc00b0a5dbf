import { now } from '@/server/clock'
import { database } from '@/server/database'
import { log } from '@/server/log'
import { inngest } from '../client'
import { everyMinute, sweepEach } from './sweeps'

/** Every minute, each sweep as a separate step. */
export const sweep = inngest.createFunction(
  { id: 'sweep', triggers: [{ cron: '* * * * *' }], retries: 0, concurrency: 1 },
  async ({ step }) =>
    sweepEach(database().db, everyMinute({ db: database().db, log: log(), now }), (name, work) => step.run(name, work)),
)
