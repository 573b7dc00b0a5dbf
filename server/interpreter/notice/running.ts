import { and, eq, inArray, isNull } from 'drizzle-orm'
import { processWide } from '@/db/process-wide'
import { runs, stepRecords } from '@/db/schema/runs'
import { now } from '../../clock'
import { database } from '../../database'
import { env } from '../../env'
import { log } from '../../log'
import { CLEANUP_BRANCH, type Visit, type WalkClaim } from '../../run-store/names'
import { RunStopped, TakenOver } from '../flow/failure'
import { watchRun } from './watch'

interface Attempting {
  state: { ref: WalkClaim }
  at: Visit
  attempt: number
}

interface Work extends Pick<Attempting, 'at' | 'attempt'> {
  end: (reason: Error) => void
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
 * Ends an attempt's work when it must stop, whichever process decides that: immediately when the run has ended or
 * another process has taken over the step, after the grace period when the run was cancelled. Notifications trigger it;
 * long work also polls, and so does a process that was suspended for a while.
 * @returns a function that releases the work
 */
export function endWhenStopped({ state: { ref }, at, attempt }: Attempting, end: (reason: Error) => void): () => void {
  const shared = running()
  const key = `${ref.tenantId}/${ref.runId}`
  const work: Work = { at, attempt, end, branch: ref.branch, since: performance.now() }
  let run = shared.runs.get(key)
  if (!run) {
    const unwatch = watchRun(ref.runId, () => check([key]))
    run = { tenantId: ref.tenantId, runId: ref.runId, works: new Set(), unwatch }
    shared.runs.set(key, run)
  }
  run.works.add(work)
  const held = run
  shared.poll ??= setInterval(pollLasting, POLL_MS)
  return () => {
    held.works.delete(work)
    if (held.works.size > 0) return
    held.unwatch()
    clearTimeout(held.grace)
    shared.runs.delete(key)
    if (shared.runs.size > 0) return
    clearInterval(shared.poll)
    shared.poll = undefined
  }
}

/** Stops a run's work in this process, which has just ended the run. */
export function stopWorkOf({ tenantId, runId }: { tenantId: string; runId: string }): void {
  const run = running().runs.get(`${tenantId}/${runId}`)
  if (run) stop(run, () => true, new RunStopped(ENDED))
}

function pollLasting(): void {
  const before = performance.now() - POLL_MS
  const lasting = [...running().runs].filter(([, { works }]) => [...works].some(({ since }) => since <= before))
  if (lasting.length > 0) check(lasting.map(([key]) => key))
}

function check(keys: string[]): void {
  stopEnded(keys).catch((err: unknown) => log().warn({ err }, 'could not look for cancelled runs; polling again'))
}

async function stopEnded(keys: string[]): Promise<void> {
  const asked = performance.now()
  const { branch, stepId, visit, attempt } = stepRecords
  const rows = await database()
    .db.select({
      tenantId: runs.tenantId,
      id: runs.id,
      endTime: runs.endTime,
      cancelledAt: runs.cancelRequestedAt,
      open: { branch, stepId, visit, attempt },
    })
    .from(runs)
    .leftJoin(
      stepRecords,
      and(eq(stepRecords.tenantId, runs.tenantId), eq(stepRecords.runId, runs.id), isNull(stepRecords.endTime)),
    )
    .where(
      inArray(
        runs.id,
        keys.map((key) => key.slice(key.indexOf('/') + 1)),
      ),
    )
  for (const key of keys) {
    const found = rows.filter((row) => key === `${row.tenantId}/${row.id}`)
    const run = running().runs.get(key)
    const [row] = found
    if (!run || !row) continue
    if (row.endTime) {
      stop(run, () => true, new RunStopped(ENDED))
      continue
    }
    const isOpen = (work: Work) => found.some(({ open }) => open && isOf(open, work))
    // Work that began after the query was sent may be missing from its result.
    stop(run, (work) => work.since < asked && !isOpen(work), new TakenOver())
    if (row.cancelledAt && !run.grace) {
      const left = row.cancelledAt.getTime() + env().CANCEL_GRACE_MS - now().getTime()
      const inMainPath = (work: Work) => work.branch !== CLEANUP_BRANCH
      const cancelled = new RunStopped('The run was cancelled.')
      run.grace = setTimeout(() => stop(run, inMainPath, cancelled), Math.max(0, left))
    }
  }
}

const ENDED = 'The run has ended.'

function isOf(open: Visit & { branch: string; attempt: number }, { branch, at, attempt }: Work): boolean {
  const isSame = open.branch === branch && open.stepId === at.stepId && open.visit === at.visit
  return isSame && open.attempt === attempt
}

function stop(run: RunAtWork, which: (work: Work) => boolean, reason: Error): void {
  for (const work of run.works) if (which(work)) work.end(reason)
}
