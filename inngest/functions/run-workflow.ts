import { systemContext } from '@/server/context'
import { database } from '@/server/database'
import { env } from '@/server/env'
import { abandonWalk } from '@/server/interpreter/abandon'
import { walk } from '@/server/interpreter/walk'
import { log } from '@/server/log'
import { inngest, runTerminated, walkRequested } from '../client'

/** Drives one segment of a walk. Everything it knows stands in Postgres; the engine is the clock and the hands. */
export const runWorkflow = inngest.createFunction(
  {
    id: 'run-workflow',
    triggers: [walkRequested],
    // Ours decide how often a step is tried; the engine's only bound how often it calls in vain.
    retries: 20,
    cancelOn: [{ event: runTerminated, if: 'event.data.runId == async.data.runId' }],
    onFailure: async ({ event, error }) => {
      const ref = walkRequested.schema.parse(event.data.event.data)
      await abandonWalk(contextFor(ref), ref, error.message)
    },
  },
  async ({ event, step, runId, attempt }) =>
    walk(contextFor(event.data), event.data, {
      engineRunId: runId,
      attempt,
      step,
      sameProcess: env().engine === 'embedded',
    }),
)

function contextFor(ref: { tenantId: string; runId: string }) {
  return systemContext({
    tenantId: ref.tenantId,
    db: database().db,
    log: log().child({ tenantId: ref.tenantId, runId: ref.runId }),
  })
}
