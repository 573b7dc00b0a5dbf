import { systemContext } from '@/server/context'
import { database } from '@/server/database'
import { MOST_ATTEMPTS } from '@/server/definition/step-config'
import { env } from '@/server/env'
import { abandonWalk } from '@/server/interpreter/abandon'
import { walk } from '@/server/interpreter/walk'
import { log } from '@/server/log'
import { inngest, runTerminated, walkRequested } from '../client'

/** Drives one segment of a walk. All its state is in Postgres; the engine only says when to continue. */
export const runWorkflow = inngest.createFunction(
  {
    id: 'run-workflow',
    triggers: [walkRequested],
    // Each step has its own number of attempts. This only limits calls that get nowhere.
    retries: MOST_ATTEMPTS,
    concurrency: [{ key: 'event.data.tenantId', limit: env().TENANT_CONCURRENCY }],
    cancelOn: [{ event: runTerminated, if: 'event.data.runId == async.data.runId' }],
    onFailure: async ({ event, error }) => {
      const ref = walkRequested.schema.parse(event.data.event.data)
      await abandonWalk(contextFor(ref), { ...ref, engineRunId: event.data.run_id }, error)
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
