import { and, asc, eq } from 'drizzle-orm'
import { pauses, runs, stepRecords } from '@/db/schema/runs'
import { authorize, may } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { mark } from '../../interpreter/index'
import { recordOfPause, runIs } from '../../run-store/conditions'
import { requireRun } from '../../run-store/find-run'
import { maskWords } from '../../runs/mask-words'
import { barOf, forbidsStarter, isVote, startersOf } from '../../runs/may-answer'
import { personOf } from '../../runs/person'
import { signalOf } from '../../runs/present'
import { hasVoted } from '../../runs/vote'
import { waitForRun } from '../../runs/wait'
import { tenantMasker } from '../../vault/masker'
import { openTasks } from './where'

/** How long a person who has just started a run waits to learn whether it asks them something. */
const AT_ONCE_MS = 2_500
/** More open tasks of one run are not searched. */
const SEARCHED = 20

/** The first open task of a run that the caller may answer. */
export interface FirstTask {
  runId: string
  pauseId: string
  title: string
}

/**
 * The first task of a new run for the person who started it; null without one. Waits a moment for the run to pause.
 * @throws AppError RUN_NOT_FOUND
 */
export async function readFirstTask(
  ctx: ServiceContext,
  { runId }: { runId: string },
  left: AbortSignal,
): Promise<FirstTask | null> {
  authorize(ctx, 'task:read')
  await requireRun(ctx, runId)
  if (!may(ctx.actor.role, 'task:answer')) return null
  const since = mark()
  const [run] = await ctx.db.select({ status: runs.status }).from(runs).where(runIs(ctx, runId))
  if (run?.status === 'running') await waitForRun(ctx, runId, AT_ONCE_MS, left, since)
  const open = await ctx.db
    .select({ pause: pauses, stepName: stepRecords.stepName })
    .from(pauses)
    .innerJoin(runs, and(eq(runs.tenantId, pauses.tenantId), eq(runs.id, pauses.runId)))
    .leftJoin(stepRecords, recordOfPause)
    .where(and(eq(pauses.runId, runId), openTasks(ctx, { tests: true })))
    .orderBy(asc(pauses.createdAt), asc(pauses.id))
    .limit(SEARCHED)
  const [person, masker, starters] = await Promise.all([
    personOf(ctx),
    tenantMasker(ctx),
    open.some(({ pause }) => forbidsStarter(signalOf(pause))) ? startersOf(ctx, runId) : [],
  ])
  for (const { pause, stepName } of open) {
    const signal = signalOf(pause)
    if (barOf(signal, person, starters) !== null) continue
    if (isVote(signal) && (await hasVoted(ctx, { runId, pauseId: pause.id }, person))) continue
    const { title } = maskWords({ title: signal.title ?? stepName ?? pause.stepId }, masker)
    return { runId, pauseId: pause.id, title }
  }
  return null
}
