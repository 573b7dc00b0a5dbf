import { listed } from '@/lib/listed'
import { branchesAround, originOf } from '../../definition/branches'
import { checkFields } from '../../definition/fields'
import { graphOf } from '../../definition/graph'
import { own } from '../../definition/json'
import { newlyAhead, reachable } from '../../definition/paths'
import type { Definition } from '../../definition/schema'
import { noLongerHidden } from '../../definition/sensitive'
import type { Sliced } from '../../definition/sliced'
import type { Busy, OpenRun, OpenWalk } from '../../interpreter/index'
import { findStepType } from '../../steps/registry'
import { type Claim, misfitsOf } from '../../workflows/check/fits'
import { isInBranchesOf, sameBranches } from './branches'
import { changesOf, type QuestionPart } from './changes'
import { ADVICE, type MoveReason, type MoveReasonCode, PASSING } from './reasons'

// Whether an open run can continue on another version. Pure: it judges what was read, before and under the run's lock.

export const MOVE_VERDICTS = ['safe', 'asks_again', 'not_now', 'not_possible'] as const

export interface Verdict {
  verdict: (typeof MOVE_VERDICTS)[number]
  reasons: MoveReason[]
  /** What its tasks ask differently, by step. */
  changes: { stepId: string; what: QuestionPart[] }[]
}

/** The two versions. */
export interface Versions {
  from: Definition
  to: Definition
  claimsAt: (stepId: string) => readonly Claim[]
  /** Whether the run that a walk waits for ends with a result of the type that the version claims. */
  fitsChild: (walk: Asking) => boolean
  /** Whether the version gives the run that waits for this one, if any, a result of the type that it claims. */
  fitsParent: boolean
}

type Asking = Extract<OpenWalk, { is: 'asking' }>
type Found = Omit<MoveReason, 'advice'> & { advice?: string }

/**
 * Judges a run walk by walk: it may have many branches.
 * @param how.dropVotes whether votes on a question that changes may be dropped
 */
export function* judging(open: OpenRun, versions: Versions, how: { dropVotes: boolean; now: Date }): Sliced<Verdict> {
  const found = ofRun(open, versions, how.now)
  const changes: Verdict['changes'] = []
  const ofPlaces = new Map<string, Found[]>()
  for (const walk of open.walks) {
    yield
    const what = walk.is === 'asking' ? questionChanges(walk) : []
    if (what.length > 0) changes.push({ stepId: walk.stepId ?? '', what })
    const key = placeOf(walk)
    // Iterations wait at the same step.
    const ofPlace = ofPlaces.get(key) ?? [...atPlace(walk, versions), ...repeatedCalls(walk, open, versions)]
    ofPlaces.set(key, ofPlace)
    found.push(
      ...ofPlace,
      ...(ofPlace.some(({ code }) => IS_NOWHERE.includes(code)) ? [] : ofWalk(walk, versions, how)),
    )
  }
  const reasons = unique(found).map((one) => ({ advice: ADVICE[one.code], ...one }))
  const verdict = reasons.some(({ code }) => !PASSING.includes(code))
    ? 'not_possible'
    : reasons.length > 0
      ? 'not_now'
      : changes.length > 0
        ? 'asks_again'
        : 'safe'
  return { verdict, reasons, changes }
}

/** When the run times out in the version; null if never. */
export function timeoutIn({ limits }: Definition, { startTime }: { startTime: Date }): Date | null {
  return limits?.timeoutMs === undefined ? null : new Date(startTime.getTime() + limits.timeoutMs)
}

/** What a pause asks differently in the other version. */
export function questionChanges({ before, next }: Asking): QuestionPart[] {
  return next && 'asked' in next ? changesOf(before, next.asked) : []
}

function ofRun({ run, data, lastSeq }: OpenRun, { from, to, fitsParent }: Versions, now: Date): Found[] {
  const found: Found[] = []
  const add = (code: MoveReasonCode, message: string) => found.push({ code, message })
  if (run.part !== null) add('PART', 'It performs only a part of its version.')
  if (run.cancelRequestedAt) add('ENDING', 'It is being cancelled.')
  else if (run.failing) add('ENDING', 'It has failed, and is on its failure path.')
  if (!fitsParent) found.push(PARENT_MISFIT)
  const timeoutAt = timeoutIn(to, run)
  if (timeoutAt && timeoutAt <= now) add('TIME_UP', 'It has taken longer already than that version allows a run.')
  const shown = noLongerHidden(from, to)
  if (shown.length > 0)
    add('HIDDEN_FIELD', `${listed(shown)} would no longer be hidden: that version does not mark it as sensitive.`)
  if (lastSeq === 0) {
    const { fileId: _fileId, ...input } = data
    for (const { message } of checkFields(to.payload, input).details)
      add('INPUT_MISFIT', `It has begun nothing yet, and its input does not fit that version: ${message}.`)
  }
  return found
}

/** Then nothing else can be said about the walk. */
const IS_NOWHERE: readonly MoveReasonCode[] = ['STEP_GONE', 'STEP_TYPE']

/** Walks at the same place have the same steps around them. */
function placeOf(walk: OpenWalk): string {
  const forks = branchesAround(walk.walk.branch).map((one) => originOf(one)?.stepId)
  return JSON.stringify([walk.is, walk.stepId, walk.is === 'busy' || walk.is === 'ahead' ? null : walk.stepType, forks])
}

/** What speaks against the place where a walk stands in itself. */
function atPlace(walk: OpenWalk, versions: Versions): Found[] {
  if (walk.is === 'busy') return []
  const { to } = versions
  const step = graphOf(to).step(walk.stepId)
  const { stepId } = walk
  if (!step) return [{ code: 'STEP_GONE', stepId, message: `It is at ${stepId}, which that version does not have.` }]
  if (walk.is !== 'ahead' && step.type !== walk.stepType) {
    const message = `It is at ${stepId}, which is ${step.type} in that version, and not ${walk.stepType} any more.`
    return [{ code: 'STEP_TYPE', stepId, message }]
  }
  if (!isOnTheWay(to, stepId)) {
    const message = `It is at ${stepId}, to which no path from START leads in that version.`
    return [{ code: 'STEP_GONE', stepId, message }]
  }
  return [
    ...(walk.is === 'forked' && !sameBranches(versions, stepId) ? [branchesChanged(stepId)] : []),
    ...(isInBranchesOf(to, stepId, walk.walk.branch) ? [] : [otherBranches(stepId)]),
  ]
}

function ofWalk(walk: OpenWalk, versions: Versions, how: { dropVotes: boolean; now: Date }): Found[] {
  if (walk.is === 'busy') return [busyWith(walk.why, walk.stepId)]
  return [
    ...misfitsOf(versions.claimsAt(walk.stepId), walk.lookup),
    ...spentLoops(walk.visits, versions),
    ...(walk.is === 'asking' ? ofQuestion(walk, versions, how) : []),
  ]
}

/** Not if only the cleanup or failure path has it: a run there would have failed before. */
function isOnTheWay(definition: Definition, stepId: string): boolean {
  const { initialStep } = definition
  return initialStep !== null && reachable(definition, initialStep).has(stepId)
}

function ofQuestion(walk: Asking, { fitsChild }: Versions, how: { dropVotes: boolean; now: Date }): Found[] {
  const { next, stepId, votes, isHeld } = walk
  if (!next) return []
  if ('failure' in next) {
    if (next.failure === 'elapsed') return [timeUp(stepId)]
    const why = next.failure === 'too large' ? 'is too large' : `cannot be filled in (${next.failure.code})`
    return [{ code: 'DATA_MISFIT', stepId, message: `What ${stepId} asks in that version ${why}.` }]
  }
  const found: Found[] = []
  const type = findStepType(walk.stepType)
  const elapses = type?.mode === 'pause' && type.elapses === true
  if (next.asked.dueAt && next.asked.dueAt <= how.now && !elapses) found.push(timeUp(stepId))
  if (!fitsChild(walk)) {
    const message = `${stepId} waits for a run of another workflow or version, whose result does not fit.`
    found.push({ code: 'CHILD_CHANGED', stepId, message })
  }
  if (questionChanges(walk).length === 0) return found
  if (isHeld) {
    const message = `Somebody has just answered ${stepId}, and may still undo that.`
    found.push({ code: 'ANSWER_HELD', stepId, message })
  }
  if (votes > 0 && !how.dropVotes) {
    const message = `${votes === 1 ? 'A vote was' : `${votes} votes were`} cast at ${stepId}, which asks something else in that version.`
    found.push({ code: 'VOTES_LOST', stepId, message })
  }
  return found
}

const BUSY: Record<Busy, (step: string) => string> = {
  attempt: (step) => `An attempt of ${step} is under way, or will be repeated.`,
  agent: (step) => `The agent at ${step} is in the middle of a turn, and asks somebody about it.`,
  answer: (step) => `The answer to ${step} is about to be taken.`,
  arrival: () => 'A branch is about to be counted.',
  between: () => 'It is on its way to the next step.',
  opening: (step) => `${step} is about to ask.`,
  branches: () => 'It has too many open branches to be moved now.',
}

function busyWith(why: Busy, stepId: string | null): Found {
  return { code: 'BUSY', message: BUSY[why](stepId ?? 'a step'), ...(stepId === null ? {} : { stepId }) }
}

function branchesChanged(stepId: string): Found {
  const message = `Branches of ${stepId} are open, and their steps are not the same in that version.`
  return { code: 'BRANCHES_CHANGED', stepId, message }
}

function otherBranches(stepId: string): Found {
  const message = `${stepId} is in another branch in that version, or in none any more.`
  return { code: 'BRANCHES_CHANGED', stepId, message }
}

const PARENT_MISFIT: Found = {
  code: 'CHILD_CHANGED',
  message: 'Another run waits for it, and that version gives a result of another type than that run takes.',
  advice: 'Leave it on its version until it has ended, or cancel both runs and run the other one again.',
}

/** The calls that the run has made, and that come after the walk in the version, but not in its own. */
function repeatedCalls(walk: OpenWalk, { called }: OpenRun, { from, to }: Versions): Found[] {
  if (walk.is === 'busy' || called.size === 0) return []
  const at = walk.stepId
  const ahead = newlyAhead({ definition: from, at }, { definition: to, at })
  return [...called]
    .filter((stepId) => ahead.has(stepId))
    .map((stepId) => {
      const message = `It has done ${stepId}, which comes after ${at} in that version: it would be done again.`
      return { code: 'CALL_REPEATED', stepId, message }
    })
}

function timeUp(stepId: string): Found {
  return { code: 'TIME_UP', stepId, message: `The time that ${stepId} has in that version is over.` }
}

/** The steps that the run has visited as often as the version allows, though its own would allow more. */
function spentLoops(visits: Readonly<Record<string, number>>, { from, to }: Versions): Found[] {
  return to.steps.flatMap(({ id: stepId, maxVisits }) => {
    const visited = own(visits, stepId) ?? 0
    const before = graphOf(from).step(stepId)?.maxVisits
    if (maxVisits === undefined || visited < Number(maxVisits)) return []
    if (before !== undefined && Number(before) <= Number(maxVisits)) return []
    const message = `It has visited ${stepId} ${visited} times, and that version allows ${maxVisits}.`
    return [{ code: 'LOOP_SPENT', stepId, message }]
  })
}

/** Branches of one fork have the same reasons. */
function unique(found: readonly Found[]): Found[] {
  return [...new Map(found.map((one) => [`${one.code} ${one.message}`, one])).values()]
}
