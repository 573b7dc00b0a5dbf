import { now } from '@/server/clock'
import { database } from '@/server/database'
import { env } from '@/server/env'
import { sweepFiles } from '@/server/files/sweep'
import { log } from '@/server/log'
import { fireDue } from '@/server/schedules/fire'
import { inngest } from '../client'
import { everyMinute, sweepEach } from './sweeps'

const FILES_EVERY_MIN = 15

/**
 * All sweeps in one execution, because an Inngest server counts them. A preview sweeps once per hour: its database may
 * sleep in between, and the people who test it can start its runs again.
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
    await sweepEach(
      sweep.db,
      [
        // First: schedules are time-critical.
        ['schedules', () => fireDue(sweep)],
        ...everyMinute(sweep),
        ...(sweep.now().getMinutes() % FILES_EVERY_MIN === 0 ? [['files', () => sweepFiles(sweep)] as const] : []),
      ],
      (_name, work) => work(),
    )
  },
)
