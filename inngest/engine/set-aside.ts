import { plainError } from './call'
import type { Claim, EngineContext } from './context'
import { skipTick } from './crontab'
import { endRun } from './finish'
import { dropJob } from './jobs'
import { MOST_DELIVERIES } from './settings'

/** The name of the error of a run that was set aside. */
const WORKER_LOST = 'WorkerLost'

/** Ends what was delivered `MOST_DELIVERIES` times and never came back, without touching it again. */
export async function setAside(ctx: EngineContext, claim: Claim): Promise<void> {
  const { jobId, generation, runId, kind, functionId } = claim
  ctx.log.error({ runId, jobId, kind, functionId }, `a job is set aside: it was lost ${MOST_DELIVERIES} times`)
  if (kind === 'cron') return await skipTick(ctx, claim)
  // The run has ended; only those who would have heard of it do not.
  if (kind === 'end') return await dropJob(ctx, claim)
  const error = plainError(
    `This call was lost ${MOST_DELIVERIES} times: each time its process ended first.`,
    WORKER_LOST,
  )
  const ending = { runId, status: 'failed' as const, output: JSON.stringify(error), steps: [] }
  await endRun(ctx, { ...ending, fence: { jobId, generation } })
}
