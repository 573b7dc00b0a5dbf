import { database } from '@/server/database'
import { log } from '@/server/log'
import { sweepRuns } from '@/server/runs/sweep'
import { inngest } from '../client'

/** Every minute: nudges what a lost event would leave standing. */
export const sweep = inngest.createFunction(
  { id: 'sweep', triggers: [{ cron: '* * * * *' }], retries: 0, concurrency: 1 },
  async ({ step }) => step.run('runs', () => sweepRuns({ db: database().db, log: log(), now: () => new Date() })),
)
