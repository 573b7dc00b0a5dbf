import { diffValues } from './diff'
import type { JsonValue } from './json'

// How a run would differ on another version, from the way it went and the way it would go.

/** A visit of a step. */
export interface Place {
  branch: string
  stepId: string
  visit: number
}

export function isSamePlace(a: Place, b: Place): boolean {
  return a.branch === b.branch && a.stepId === b.stepId && a.visit === b.visit
}

/** Distinguishes the visits of a run. */
export function placeKey({ branch, stepId, visit }: Place): string {
  return `${branch} ${stepId}#${visit}`
}

/** Why an answer of a run does not fit what is asked now. */
export type Misfit = { form: string } | { action: string } | { fields: string; of: string } | 'votes' | 'event'

/** Why a replay cannot know a value, or how it continues. */
export type Reason = { place: Place } /** The run never came there, so nobody knows what the step gives. */ & (
  | { why: 'never called' }
  /** Another branch stopped it, or it had not ended. */
  | { why: 'stopped' | 'open' }
  /** A script would have to be computed, which took too long or was not possible. */
  | { why: 'script' }
  /** It depends on a value that the caller may not see. */
  | { why: 'hidden' }
  /** The answer of the run does not fit the question. */
  | { why: 'answer'; misfit: Misfit }
)

/** Why it is not known how a run would end. */
export type Needs =
  | Reason
  /** It failed at a call, which would be made with the same or with other arguments. */
  | { place: Place; why: 'same call' | 'new call' }
  /** It has too many records or too much data, or takes too long to follow. */
  | { why: 'too large' | 'too long' }
  /** Its first steps ran on another version. */
  | { why: 'continued' }

/** Something that a replay takes for granted and a run may find otherwise. */
export interface Assumption {
  place: Place
  why:
    | 'other arguments'
    | 'another version'
    | 'another visit'
    | 'another step'
    | 'succeeds'
    /** The caller has said the result of the call. */
    | 'given'
    | 'can be computed'
    /** A script may read the clock, or chance. */
    | 'computed now'
    /** It matters which branch ends first, and one of them is another than it was. */
    | 'order'
    /** A person changed fields before a visit that does not come. */
    | 'edit left out'
}

/** A visit with the exit it took; null for a step that has only one, or where it took none. */
export interface WayVisit extends Place {
  exit: string | null
  /** Another branch stopped it, so nobody knows how it would have continued. */
  isStopped?: true
  /** It failed, whether or not that was handled. */
  isFailed?: true
}

/** The visits of a run in their order, and its end. `needs` says why the end is not known. */
export interface Way {
  visits: readonly WayVisit[]
  end: { result: JsonValue } | { failed: { code: string; message: string; stepId: string | null } } | { needs: Needs }
}

/** How a visit was left: by which exit, and to which step that both versions have; null if the path ended. */
export interface Left {
  exit: string | null
  next: string | null
}

/** Steps that would call something in addition, no longer, or with other arguments. */
export interface Calls {
  new: string[]
  gone: string[]
  changed: string[]
}

type Failing =
  /** It would fail where it did not. */
  | { is: 'fails'; at: string | null; code: string; message: string }
  /** It failed, and would get past that. */
  | { is: 'passes'; at: string | null; onward: 'ends' | 'unknown' | 'fails' }

export type Verdict = (
  | Failing
  | { is: 'same' }
  /** The same way to another result; the first fields that differ. */
  | { is: 'result'; fields: string[] }
  | { is: 'way'; at: Place; was: Left; now: Left }
  | { is: 'untold'; needs: Needs }
) & { calls: Calls; assumed: Assumption[] }

/** Of a run that was not walked to its end. */
export function untold(needs: Needs): Verdict {
  return { is: 'untold', needs, calls: { new: [], gone: [], changed: [] }, assumed: [] }
}

const MAX_FIELDS = 3

/** The steps that both versions have, and more about the run. */
interface Compared {
  /** The ids of the steps that both have. */
  common: ReadonlySet<string>
  calls: Calls
  assumed: Assumption[]
  /** Why a part of the new result is unknown; null if it is known. */
  unknownIn?: (value: JsonValue, path: string) => Reason | null
}

/**
 * Compares two ways over the steps that both versions have, branch by branch: an inserted or removed step is no other
 * way. The first difference counts, and what is unknown after it does not.
 */
export function verdictOf(was: Way, now: Way, of: Compared): Verdict {
  const { common, calls, assumed } = of
  const beside = { calls, assumed }
  const difference = firstDifference(was, now, common)
  const failing = failures(was, now, difference !== null)
  if (failing) return { ...failing, ...beside }
  if (difference) return { is: 'way', ...difference, ...beside }
  return { ...endsOf(was, now, of), ...beside }
}

/** The ends of two runs that went the same way. */
function endsOf(was: Way, now: Way, { unknownIn = () => null }: Compared) {
  if ('needs' in now.end) return { is: 'untold' as const, needs: now.end.needs }
  if ('needs' in was.end) return { is: 'untold' as const, needs: was.end.needs }
  if (!('result' in now.end) || !('result' in was.end)) return { is: 'same' as const }
  const fields: string[] = []
  let unknown: Reason | null = null
  for (const { path, after } of diffValues(was.end.result, now.end.result)) {
    const reason = after === undefined ? null : unknownIn(after, path)
    if (!reason) fields.push(path)
    else if (reason !== SAME) unknown ??= reason
  }
  if (fields.length > 0) return { is: 'result' as const, fields: fields.slice(0, MAX_FIELDS) }
  return unknown ? { is: 'untold' as const, needs: unknown } : { is: 'same' as const }
}

/** Of a value that may not be seen, but was made like that of the run. */
export const SAME: Reason = { why: 'hidden', place: { branch: '', stepId: '', visit: 0 } }

/** Whether only one of them fails, or both do in another way. */
function failures(was: Way, now: Way, differs: boolean): Failing | null {
  const failed = 'failed' in was.end ? was.end.failed : null
  const fails = 'failed' in now.end ? now.end.failed : null
  const isSame = failed?.code === fails?.code && failed?.stepId === fails?.stepId
  if (fails && !failed) return { is: 'fails', at: fails.stepId, code: fails.code, message: fails.message }
  if (!failed || (fails && isSame)) return null
  if (fails) return { is: 'passes', at: failed.stepId, onward: 'fails' }
  if ('result' in now.end) return { is: 'passes', at: failed.stepId, onward: 'ends' }
  // It stops before the place where the run failed, or behind it.
  const isPast = differs || visitsOf(now, failed.stepId) > visitsOf(was, failed.stepId)
  return isPast ? { is: 'passes', at: failed.stepId, onward: 'unknown' } : null
}

function visitsOf({ visits }: Way, stepId: string | null): number {
  return visits.filter((visit) => visit.stepId === stepId).length
}

function firstDifference(was: Way, now: Way, common: ReadonlySet<string>) {
  const order = new Map(now.visits.map((visit, nth) => [keyOf(visit), nth]))
  const last = now.visits.at(-1)?.branch ?? ''
  const recorded = byBranch(was.visits, common)
  const wasOpen = 'needs' in was.end
  const found = [...byBranch(now.visits, common)].flatMap(([branch, visits]) => {
    // Where a walk stops for want of a value, the branch that it is in and those around it have not ended.
    const isOpen = 'needs' in now.end && (last === branch || last.startsWith(`${branch}/`))
    return differenceIn(recorded.get(branch) ?? [], visits, { wasOpen, isOpen }) ?? []
  })
  const rank = ({ at }: { at: Place }) => order.get(keyOf(at)) ?? 0
  return found.toSorted((a, b) => rank(a) - rank(b))[0] ?? null
}

/** @param ends whether one of them continues to a place that nobody knows */
function differenceIn(
  was: readonly WayVisit[],
  now: readonly WayVisit[],
  { wasOpen, isOpen }: { wasOpen: boolean; isOpen: boolean },
) {
  for (const [nth, here] of now.entries()) {
    const there = was[nth]
    if (!there || there.isStopped) return null
    const [wasNext, next] = [was[nth + 1], now[nth + 1]]
    const left = (visit: WayVisit, to: WayVisit | undefined): Left => ({ exit: visit.exit, next: to?.stepId ?? null })
    const found = { at: place(here), was: left(there, wasNext), now: left(here, next) }
    // The last visit of a way that is not known any further has not been left.
    if (exitsDiffer(there, here)) return found
    if ((!next && isOpen) || (!wasNext && wasOpen)) return null
    if (wasNext?.stepId !== next?.stepId) return found
  }
  return null
}

/** An answer without an edge of its own has no exit, so where it leads decides. */
function exitsDiffer(a: WayVisit, b: WayVisit): boolean {
  return a.exit !== null && b.exit !== null && a.exit !== b.exit
}

function byBranch(visits: readonly WayVisit[], common: ReadonlySet<string>): Map<string, WayVisit[]> {
  const branches = new Map<string, WayVisit[]>()
  for (const visit of visits) {
    if (!common.has(visit.stepId)) continue
    const visits = branches.get(visit.branch)
    if (visits) visits.push(visit)
    else branches.set(visit.branch, [visit])
  }
  return branches
}

const place = ({ branch, stepId, visit }: Place): Place => ({ branch, stepId, visit })
const keyOf = ({ branch, stepId, visit }: Place) => `${branch} ${stepId}#${visit}`
