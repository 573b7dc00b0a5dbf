import { systemContext } from '@/server/context'
import { database } from '@/server/database'
import { log } from '@/server/log'
import { deliverMail } from '@/server/mail/deliver'
import { inngest, taskMailDue } from '../client'
import { type DirectCall, runStepOf } from './direct-call'

/** How many of a tenant's mails are sent concurrently. */
const PER_TENANT = 4

/** Sends one mail. All its state is in Postgres, so it may run twice or not at all. */
export async function driveMail(call: DirectCall): Promise<void> {
  const { tenantId, mailId } = taskMailDue.schema.parse(call.event.data)
  const ctx = systemContext({ tenantId, db: database().db, log: log().child({ tenantId, mailId }) })
  await runStepOf(call)('send', () => deliverMail(ctx, mailId))
}

export const sendMails = inngest.createFunction(
  {
    id: 'send-mails',
    triggers: [taskMailDue],
    // The sweep finds leftovers.
    retries: 3,
    concurrency: [{ key: 'event.data.tenantId', limit: PER_TENANT }],
  },
  driveMail,
)
