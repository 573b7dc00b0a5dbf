import { expect } from 'vitest'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import type { Definition } from '@/server/definition/schema'
import { type Reason, verdictOf, type Way, type WayVisit } from '@/server/definition/verdict'
import type { PresentedRun } from '@/server/runs/present'
import { drive } from '@/server/workflows/replay/drive'
import { endOf, startOf } from '@/server/workflows/replay/ends'
import type { Facts } from '@/server/workflows/replay/facts'
import { Recorded } from '@/server/workflows/replay/recorded'
import { Trace } from '@/server/workflows/replay/trace'
import { Undetermined } from '@/server/workflows/replay/unknown'
import { Walker } from '@/server/workflows/replay/walk'

/** An ended run, with its definition and what it recorded. */
export interface Ran {
  run: PresentedRun
  definition: Definition
  facts: Facts
}

interface Replayed {
  /** Its result or the code of its error; null if something unknown decides or is in it. */
  end: { data: JsonValue } | { failed: string } | null
  why: Reason | null
  visits: readonly WayVisit[]
  assumed: string[]
}

/** Replays facts on a definition. */
export async function replayed(definition: Definition, facts: Facts): Promise<Replayed> {
  const trace = new Trace()
  const source = new Recorded(facts, {
    may: (type) => type.mode === 'effect' && type.type !== 'test-effect',
    run: () => Promise.reject(new Error('nothing is computed here')),
  })
  const found = (end: Replayed['end'], why: Reason | null): Replayed => {
    return { end, why, visits: trace.visits, assumed: source.assumed.map((one) => one.why) }
  }
  const started = startOf({ tenantId: 'ten_replayed' }, definition, facts.input)
  if ('failed' in started) throw new Error(started.failed.message)
  try {
    const walk = new Walker(definition, source, new Date(0), trace).walk(started.state, definition.initialStep)
    const end = endOf(await drive('ten_replayed', walk, { visits: 100_000, ms: 60_000, computeMs: 0 }))
    const why = source.unknowns.reasonIn(end as JsonValue)
    if (why) return found(null, why)
    return found('failed' in end ? { failed: end.failed.code } : end, null)
  } catch (err) {
    if (err instanceof Undetermined) return found(null, err.reason)
    throw err
  }
}

/** On its own version, a run goes the same way to the same end. */
export async function expectSameWay({ run, definition, facts }: Ran): Promise<void> {
  const found = await replayed(definition, facts)
  const label = JSON.stringify({ definition, facts, found, history: run.stepExecutionHistory.map(shown) })
  expect(found.end, label).toEqual(endOfRun(run))
  expect(found.assumed, label).toEqual([])
  const common = new Set(definition.steps.map(({ id }) => id))
  const calls = { new: [], gone: [], changed: [] }
  const verdict = verdictOf(wayOfRun(run), { visits: found.visits, end: shownEnd(run) }, { common, calls, assumed: [] })
  expect(verdict, label).toEqual({ is: 'same', calls, assumed: [] })
  const recorded = linesOf(wayOfRun(run).visits)
  const walked = linesOf(found.visits)
  expect(walked.main ?? [], label).toEqual(recorded.main ?? [])
  for (const [branch, visits] of Object.entries(walked)) expect(recorded[branch], label).toEqual(visits)
}

function wayOfRun(run: PresentedRun): Way {
  const visits = run.stepExecutionHistory.map(({ branch, stepId, visit, exit, errorCode }) => ({
    branch: branch === undefined ? 'main' : `main/${branch}`,
    ...{ stepId, visit, exit: exit ?? null },
    ...(errorCode === 'STOPPED' ? { isStopped: true as const } : {}),
  }))
  return { visits, end: shownEnd(run) }
}

function shownEnd({ result, error }: PresentedRun): Way['end'] {
  return error ? { failed: error } : { result: (result ?? {}) as JsonObject }
}

/** The visits of each walk, by its branch. */
function linesOf(visits: readonly WayVisit[]): Record<string, string[]> {
  const lines: Record<string, string[]> = {}
  for (const { branch, stepId, visit } of visits) {
    lines[branch] ??= []
    lines[branch]?.push(`${stepId}#${visit}`)
  }
  return lines
}

const shown = ({ branch, stepId, visit, exit, errorCode }: PresentedRun['stepExecutionHistory'][number]) =>
  `${branch ?? ''} ${stepId}#${visit} ${exit ?? ''} ${errorCode ?? ''}`

function endOfRun({ result, error }: PresentedRun): Replayed['end'] {
  return error ? { failed: error.code } : { data: (result ?? {}) as JsonObject }
}

/**
 * With the outcome of one step hidden, a replay gives the same end, or does not know it. It may only be wrong where it
 * took for granted that a call succeeds which had failed, that a field can be computed, or that a step that asks the same
 * as another one gets the same.
 */
export async function expectNoGuess({ run, definition, facts }: Ran, stepId: string): Promise<Replayed['why']> {
  const visits = facts.visits.filter((fact) => fact.stepId !== stepId)
  const hasFailed = facts.visits.some((fact) => fact.stepId === stepId && !hasSucceeded(fact.came))
  const found = await replayed(definition, { ...facts, visits })
  if (found.end === null) return found.why
  const mayDiffer = hasFailed || found.assumed.some((why) => why === 'can be computed' || why === 'another step')
  if (!mayDiffer) expect(found.end, JSON.stringify({ stepId, definition, facts })).toEqual(endOfRun(run))
  return null
}

const hasSucceeded = (came: Facts['visits'][number]['came']) => typeof came === 'object' && !('failed' in came)
