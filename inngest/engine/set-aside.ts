import { plainError } from './call'
import type { Claim, EngineContext } from './context'
import { skipTick } from './crontab'
import { endRun } from './finish'
import { dropJob } from './jobs'
import { MAX_DELIVERIES } from './settings'

/** The error name of a run that was set aside. */
const WORKER_LOST = 'WorkerLost'

/** Ends a job that was delivered `MAX_DELIVERIES` times and never came back, without running it again. */
export async function setAside(ctx: EngineContext, claim: Claim): Promise<void> {
  const { jobId, generation, runId, kind, functionId } = claim
  ctx.log.error({ runId, jobId, kind, functionId }, `a job is set aside: its process ended ${MAX_DELIVERIES} times`)
  if (kind === 'cron') return await skipTick(ctx, claim)
  // The run itself has ended; only the notification of its end is dropped.
  if (kind === 'end') return await dropJob(ctx, claim)
  const error = plainError(
    `This call was lost ${MAX_DELIVERIES} times: each time its process ended first.`,
    WORKER_LOST,
  )
  const ending = { runId, status: 'failed' as const, output: JSON.stringify(error), steps: [] }
  await endRun(ctx, { ...ending, fence: { jobId, generation } })
}
