import type { ServiceContext } from '../context'
import { env } from '../env'
import { mark, stopAwaiting } from '../interpreter/index'
import type { PresentedRun } from './present'
import { startRun } from './start'
import { waitForRun } from './wait'

/**
 * Starts a run and returns when it has ended or paused, or after the timeout. The run continues either way, even if the
 * caller hangs up. If the engine of this process has no free slot, the run is written once it has one.
 */
export async function startAndWait(
  ctx: ServiceContext,
  input: {
    workflowId: string
    body: Parameters<typeof startRun>[1]['body']
    version?: string | undefined
    prefer: string | null
    signal: AbortSignal
  },
): Promise<{ run: PresentedRun; workflowVersion: number }> {
  const { signal } = input
  const deadline = performance.now() + waitMs(input.prefer)
  const left = () => Math.max(0, deadline - performance.now())
  let since = mark()
  const begins = () => {
    since = mark()
  }
  const { runId, workflowVersion } = await startRun(ctx, { ...input, waits: { ms: left(), signal, begins } })
  try {
    return { run: await waitForRun(ctx, runId, left(), signal, since), workflowVersion }
  } finally {
    stopAwaiting(runId)
  }
}

/** `Prefer: wait=<seconds>` requests another wait, within limits. */
function waitMs(prefer: string | null): number {
  const seconds = /(?:^|[,;\s])wait=(\d{1,6})(?:$|[,;\s])/i.exec(prefer ?? '')?.[1]
  return seconds === undefined ? env().SYNC_START_TIMEOUT_MS : Math.min(Number(seconds) * 1000, env().longestWaitMs)
}
