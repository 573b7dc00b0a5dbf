import { systemContext } from '@/server/context'
import { database } from '@/server/database'
import { log } from '@/server/log'
import { giveHeld } from '@/server/runs/held/give'
import { answerHeld, inngest } from '../client'

/**
 * Submits a held answer once nobody can undo it any more. The engine measures the time, so no process needs a timer and
 * a restart changes nothing.
 */
export const giveHeldAnswers = inngest.createFunction(
  {
    id: 'give-held-answers',
    triggers: [answerHeld],
    // The sweep finds leftovers.
    retries: 5,
  },
  async ({ event, step }) => {
    const { tenantId, until, ...at } = answerHeld.schema.parse(event.data)
    await step.sleepUntil('until', until)
    const ctx = systemContext({ tenantId, db: database().db, log: log().child({ tenantId }) })
    await step.run('give', () => giveHeld(ctx, { ...at, until: new Date(until) }))
  },
)
