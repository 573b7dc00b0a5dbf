import { and, eq } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import type { ServiceContext } from '../context'
import { changedSince, isEndingHere, type Mark, watchRun } from '../interpreter/index'
import type { PresentedRun } from './present'
import { rememberedRun } from './remembered'
import { getRunStatus } from './status'

const POLL_MS = 1_000
const PATIENCE = { patienceMs: 30_000 }

/**
 * The run once it has paused or ended, or its current state after the timeout or once the caller has left. A
 * notification reports changes; this also polls, because one may be lost.
 * @param since when the run cannot have paused or ended yet; notifications since then count
 */
export async function waitForRun(
  ctx: ServiceContext,
  runId: string,
  timeoutMs: number,
  signal: AbortSignal,
  since: Mark,
): Promise<PresentedRun> {
  const deadline = performance.now() + timeoutMs
  let wake: () => void = () => {}
  let notified = changedSince(runId, since)
  const notify = () => {
    if (isEndingHere(runId) && !signal.aborted) return
    notified = true
    wake()
  }
  const unwatch = watchRun(runId, notify)
  signal.addEventListener('abort', notify)
  try {
    while (performance.now() < deadline && !signal.aborted) {
      if (notified) {
        notified = false
        const run = rememberedRun(ctx, runId) ?? (await getRunStatus(ctx, { runId }, PATIENCE))
        if (run.status !== 'running') return run
        continue
      }
      const polls = await new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(true), Math.min(POLL_MS, Math.max(0, deadline - performance.now())))
        wake = () => {
          clearTimeout(timer)
          resolve(false)
        }
      })
      if (polls && (await hasStopped(ctx, runId))) break
    }
  } finally {
    signal.removeEventListener('abort', notify)
    unwatch()
  }
  // The caller has waited for this response; without it, the run it started would seem never to have started.
  return getRunStatus(ctx, { runId }, PATIENCE)
}

async function hasStopped(ctx: ServiceContext, runId: string): Promise<boolean> {
  const [row] = await ctx.db
    .select({ status: runs.status })
    .from(runs)
    .where(and(eq(runs.tenantId, ctx.tenantId), eq(runs.id, runId)))
  return row?.status !== 'running'
}
