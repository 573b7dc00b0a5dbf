import { systemContext } from '@/server/context'
import { database } from '@/server/database'
import { MAX_ATTEMPTS } from '@/server/definition/step-config'
import { env } from '@/server/env'
import { failWalk, type StepTools, walk } from '@/server/interpreter/driver'
import { log } from '@/server/log'
import { inngest, runTerminated, walkRequested } from '../client'

interface Call {
  event: { data: unknown }
  step: unknown
  runId: string
  attempt: number
  /** Set only in the embedded engine's own calls. */
  stopping?: () => boolean
  guaranteeNextStep?: () => void
}

/**
 * Drives one segment of a walk. All its state is in Postgres; the engine only decides when to continue. It uses only
 * the SDK's tools `run` and `waitForEvent`, so the embedded engine may call it directly.
 */
export async function driveWalk({
  event,
  step,
  runId,
  attempt,
  stopping,
  guaranteeNextStep,
}: Call): Promise<{ ended: string }> {
  const ref = walkRequested.schema.parse(event.data)
  const sameProcess = env().engine === 'embedded'
  // Only the embedded engine's own calls have these. Elsewhere, an engine run waits at a pause.
  const own = {
    stopping: stopping ?? (() => false),
    guaranteeNextStep: guaranteeNextStep ?? (() => {}),
    rests: stopping !== undefined,
  }
  return walk(contextFor(ref), ref, { engineRunId: runId, attempt, step: step as StepTools, sameProcess, ...own })
}

export const runWorkflow = inngest.createFunction(
  {
    id: 'run-workflow',
    triggers: [walkRequested],
    // Each step has its own number of attempts. This only limits calls that make no progress.
    retries: MAX_ATTEMPTS,
    concurrency: [{ key: 'event.data.tenantId', limit: env().TENANT_CONCURRENCY }],
    cancelOn: [{ event: runTerminated, if: 'event.data.runId == async.data.runId' }],
    onFailure: async ({ event, error }) => {
      const ref = walkRequested.schema.parse(event.data.event.data)
      await failWalk(contextFor(ref), { ...ref, engineRunId: event.data.run_id }, error)
    },
  },
  driveWalk,
)

function contextFor(ref: { tenantId: string; runId: string }) {
  return systemContext({
    tenantId: ref.tenantId,
    db: database().db,
    log: log().child({ tenantId: ref.tenantId, runId: ref.runId }),
  })
}
