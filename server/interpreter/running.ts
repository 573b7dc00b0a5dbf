import { inArray } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import { database } from '../database'
import { env } from '../env'
import { log } from '../log'
import { processWide } from '../process'
import { watchRun } from './changes'
import { CLEANUP_BRANCH, type WalkRef } from './receipt'

/** The run of a running step was cancelled, terminated or ended some other way. */
export class RunStopped extends Error {
  override name = 'RunStopped'
}

interface Work {
  controller: AbortController
  branch: string
  since: number
}

interface RunAtWork {
  tenantId: string
  runId: string
  works: Set<Work>
  unwatch: () => void
  grace?: NodeJS.Timeout
}

interface Running {
  runs: Map<string, RunAtWork>
  poll?: NodeJS.Timeout | undefined
}

const POLL_MS = 1_000

/** The steps running in this process, so the end of a run can stop them. */
const running = () => processWide<Running>('runs.running', () => ({ runs: new Map() }))

/**
 * A signal that fires when the run's work must stop, whichever process decides that: at once when the run has ended,
 * after the grace period when it was cancelled. Announcements trigger it; long work also polls.
 */
export function abortWhenStopped(ref: WalkRef): { signal: AbortSignal; release(): void } {
  const shared = running()
  const key = `${ref.tenantId}/${ref.runId}`
  const work: Work = { controller: new AbortController(), branch: ref.branch, since: Date.now() }
  let run = shared.runs.get(key)
  if (!run) {
    const unwatch = watchRun(ref.runId, () => check([key]))
    run = { tenantId: ref.tenantId, runId: ref.runId, works: new Set(), unwatch }
    shared.runs.set(key, run)
  }
  run.works.add(work)
  const held = run
  shared.poll ??= setInterval(pollLasting, POLL_MS)
  return {
    signal: work.controller.signal,
    release() {
      held.works.delete(work)
      if (held.works.size > 0) return
      held.unwatch()
      clearTimeout(held.grace)
      shared.runs.delete(key)
      if (shared.runs.size > 0) return
      clearInterval(shared.poll)
      shared.poll = undefined
    },
  }
}

function pollLasting(): void {
  const before = Date.now() - POLL_MS
  const lasting = [...running().runs].filter(([, { works }]) => [...works].some(({ since }) => since <= before))
  if (lasting.length > 0) check(lasting.map(([key]) => key))
}

function check(keys: string[]): void {
  stopEndedRuns(keys).catch((err: unknown) => log().warn({ err }, 'could not look for cancelled runs; polling again'))
}

async function stopEndedRuns(keys: string[]): Promise<void> {
  const rows = await database()
    .db.select({ tenantId: runs.tenantId, id: runs.id, endTime: runs.endTime, cancelledAt: runs.cancelRequestedAt })
    .from(runs)
    .where(
      inArray(
        runs.id,
        keys.map((key) => key.slice(key.indexOf('/') + 1)),
      ),
    )
  for (const row of rows) {
    const run = running().runs.get(`${row.tenantId}/${row.id}`)
    if (!run) continue
    if (row.endTime) stop(run, () => true, 'The run has ended.')
    else if (row.cancelledAt && !run.grace) {
      const left = row.cancelledAt.getTime() + env().CANCEL_GRACE_MS - Date.now()
      const inMainPath = (work: Work) => work.branch !== CLEANUP_BRANCH
      run.grace = setTimeout(() => stop(run, inMainPath, 'The run was cancelled.'), Math.max(0, left))
    }
  }
}

function stop(run: RunAtWork, which: (work: Work) => boolean, message: string): void {
  for (const work of run.works) if (which(work)) work.controller.abort(new RunStopped(message))
}
