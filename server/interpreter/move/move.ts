import { countReminders, nextReminder } from '../../definition/reminder'
import type { AskedBefore, PauseSignal } from '../../definition/run'
import type { Definition } from '../../definition/schema'
import type { StepConfig } from '../../definition/step-config'
import { ImpossibleState } from '../../errors'
import { walkIs } from '../../run-store/conditions'
import { type Held, requireHeld } from '../../run-store/held'
import type { StepRecordRow } from '../../run-store/walk-data'
import { findStepType } from '../../steps/registry'
import { inputDataOf } from '../flow/step'
import { announceRun } from '../notice/announce'
import { dueBy, watchPause } from '../notice/timers'
import { configOf } from '../plan/state'
import { forget } from '../recall/run'
import {
  askAgain,
  askedBefore,
  beginAt,
  changeVersion,
  dropVotes,
  giveDefaults,
  raiseEpochs,
  rewriteVisit,
  tellAskedAgain,
} from '../write/moves'
import { NEW_EPOCH, requestWalk, signalEngineWait } from '../write/request'
import type { OpenRun, OpenWalk } from './read'

type Asking = Extract<OpenWalk, { is: 'asking' }>

/** Where a run goes. */
export interface Target {
  version: number
  definition: Definition
  timeoutAt: Date | null
  /** Whether a pause asks something else there. */
  asksAgain: (walk: Asking) => boolean
  /** Ends the claim of a pause that asks again, if its member may not answer any more. */
  release: (pauseId: string) => Promise<void>
}

/**
 * Moves a held run to another version. The caller has judged the same rows that are passed. No attempt is under way, and
 * the epoch of each walk rises: so nothing that was planned under the old version can be written any more, and the next
 * call reads the run, and plans under the new one.
 */
export async function moveToVersion(
  tx: Held,
  open: OpenRun,
  to: Target,
  how: { batch: string; reason: string | null },
): Promise<void> {
  const { run, lastSeq } = open
  requireHeld(tx, run.id)
  await raiseEpochs(tx, run)
  const asked: AskedBefore[] = []
  for (const walk of open.walks) if (walk.is === 'asking') asked.push(...(await moveQuestion(tx, open, walk, to)))
  const first = lastSeq === 0 ? to.definition.initialStep : null
  if (first !== null) await giveDefaults(tx, run, open.defaults)
  await changeVersion(
    tx,
    run,
    { version: to.version, timeoutAt: to.timeoutAt, stepId: first },
    { ...how, afterSeq: lastSeq, asked: asked.length > 0 ? asked : null },
  )
  for (const walk of open.walks) await callAgain(tx, open, walk, first)
  for (const { pauseId: id } of asked) {
    // Otherwise only that member would be notified.
    await to.release(id)
    await tellAskedAgain(tx, { tenantId: run.tenantId, runId: run.id, id })
  }
  await announceRun(tx, run.id)
  tx.afterCommit(() => {
    // This process may have asked the question, and would plan the answer under the old version, only to be refused.
    forget(run.id)
    if (to.timeoutAt) dueBy(to.timeoutAt)
  })
}

/** @returns what a pause asked before, if it asks something else now */
async function moveQuestion(tx: Held, { run }: OpenRun, walk: Asking, to: Target): Promise<AskedBefore[]> {
  const { record, pause, next } = walk
  const type = findStepType(record.stepType)
  if (!type || !next || 'failure' in next)
    throw new ImpossibleState('moved-question', `${record.stepId} asks nothing in version ${to.version}`)
  const { asked } = next
  const config = walk.child ? asStarted(next.config, record) : next.config
  const step = to.definition.steps.find(({ id }) => id === record.stepId)
  const stepName = typeof step?.name === 'string' ? step.name : record.stepId
  await rewriteVisit(tx, record, { config, inputData: inputDataOf(type, config), stepName })
  if (!to.asksAgain(walk)) return []
  const { tenantId, id: runId } = run
  const of = { tenantId, runId, id: pause.id }
  const before = askedBefore(pause, { signal: pause.signal, votes: await dropVotes(tx, of) })
  const { signal, remindAt } = afterReminders(record, asked.signal)
  await askAgain(tx, of, { ...asked, signal }, remindAt)
  tx.afterCommit(() => watchPause(tx, of, { id: pause.id, dueAt: asked.dueAt, event: asked.event }))
  return [before]
}

/** The configuration of a step whose run was started already: it says what that run was started with. */
function asStarted({ saveAs }: StepConfig, record: StepRecordRow): StepConfig {
  const config: StepConfig = { ...configOf(record) }
  delete config.saveAs
  if (saveAs !== undefined) config.saveAs = saveAs
  return config
}

/** The reminders that were sent count, and a task that was handed over stays with those who have it. */
function afterReminders(
  { reminders, startTime }: StepRecordRow,
  signal: PauseSignal | null,
): { signal: PauseSignal | null; remindAt: Date | null } {
  const plan = signal?.reminders
  if (!signal || !plan) return { signal, remindAt: null }
  const past = reminders ?? []
  const wasHanded = past.some((one) => 'handedTo' in one)
  const last = past.at(-1)
  const from = last ? new Date(last.at) : startTime
  return {
    signal: wasHanded && plan.handTo ? { ...signal, assignees: plan.handTo } : signal,
    remindAt: nextReminder(plan, countReminders(past) + (wasHanded ? 1 : 0), from),
  }
}

/**
 * A walk that an engine run has, or is about to have, gets another one. Parked walks and those that wait for branches
 * have none: their next request carries the new epoch.
 */
async function callAgain(tx: Held, { run }: OpenRun, { walk, is }: OpenWalk, first: string | null): Promise<void> {
  if (walk.status !== 'requested' && walk.status !== 'walking') return
  const ref = { tenantId: run.tenantId, runId: run.id, branch: walk.branch }
  if (is === 'ahead' && first !== null) await beginAt(tx, ref, first)
  await requestWalk(tx, ref, walkIs(ref), NEW_EPOCH)
  if (walk.status === 'walking') await signalEngineWait(tx, ref)
}
