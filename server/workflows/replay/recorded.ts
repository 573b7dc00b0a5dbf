import { branchOf, scopeIdOf } from '../../definition/branches'
import { graphOf } from '../../definition/graph'
import type { JsonObject } from '../../definition/json'
import type { Arrival } from '../../definition/run'
import type { StepConfig } from '../../definition/step-config'
import type { Entered, Entry, Position } from '../../interpreter/flow/index'
import {
  collected,
  enterResolved,
  failureAtEntry,
  fillIn,
  forkOf,
  lookupWith,
  notCollected,
  requireVisit,
} from '../../interpreter/flow/index'
import type { Asked, Forking } from '../../steps/define-step'
import { answerAgain } from './answers'
import { askedWith, type Fact, type Facts, type Place } from './facts'
import { Matching } from './match'
import type { Begun, Came, Compute, Outputs, Source } from './source'
import { type Assumption, type Reason, Undetermined, Unknowns } from './unknown'
import { readsUnknown, refuseInResult, withUnknownFields } from './unknown-steps'

/** Only ends a walk that would never end. */
const MAX_VISITS = 20_000

/** Computes a step that only computes. */
export type Computing = (entry: Entry<Position>, config: StepConfig) => Promise<Came>

/**
 * What a run recorded, for a walk of another version or of its own. Where that does not determine how the walk continues,
 * it throws `Undetermined`.
 */
export class Recorded implements Source {
  readonly mostVisits = MAX_VISITS
  readonly unknowns = new Unknowns()
  readonly assumed: Assumption[] = []
  private readonly matching: Matching
  /** The branches that another one stopped. */
  private readonly stopped: ReadonlySet<string>

  constructor(
    private readonly facts: Facts,
    private readonly computing: Computing,
  ) {
    this.matching = new Matching(facts.visits)
    this.stopped = new Set(facts.visits.filter(({ came }) => came === 'stopped').map(({ branch }) => branch))
  }

  edits(entry: Entry<Position>): JsonObject | null {
    const place = placeOf(entry)
    return this.facts.edits.find(({ before }) => isSame(before, place))?.data ?? null
  }

  enter(given: Entry<Position>, outputs: Outputs): Entered {
    const start = this.matching.at(placeOf(given))?.start
    const entry = start ? { ...given, now: new Date(start) } : given
    const lookup = this.unknowns.lookup(entry.state.data, lookupWith(entry.state.data, outputs))
    let touched: Reason | null = null
    try {
      requireVisit(entry)
      touched = readsUnknown(this.unknowns, entry, lookup)
      const step = touched ? withUnknownFields(this.unknowns, entry.step, lookup) : entry.step
      if (step.compute !== entry.step.compute) this.assume(placeOf(entry), 'can be computed')
      return enterResolved(entry, fillIn(step, entry.type, lookup))
    } catch (err) {
      const failure = failureAtEntry(err)
      if (touched) throw new Undetermined(touched)
      return { failure }
    }
  }

  outcome(entry: Entry<Position>, config: StepConfig, asked: Asked | null): Came | { compute: Compute } {
    const { type } = entry
    const place = placeOf(entry)
    const wanted = askedWith(config)
    const same = this.matching.same(place, type.type, wanted)
    if (type.mode === 'pause' && type.elapses) {
      if (same) cameOf(same, place)
      return { answer: { due: true } }
    }
    if (!same && this.mayCompute(entry, config)) return { compute: () => this.computing(entry, config) }
    const fact = same ?? this.matching.likely(place, type.type)
    if (!fact) return this.neverCalled(entry, place)
    const came = cameOf(fact, place)
    this.assume(place, differenceOf(entry, fact, wanted, same !== undefined))
    if ('failed' in came || type.mode !== 'pause') return came as Came
    const reason = this.unknowns.reasonIn(asked?.event?.rules.values)
    if (reason) throw new Undetermined(reason)
    return { answer: answerAgain(entry, asked, came, place) }
  }

  /** The branches that ended in the run, as they did; then the others, and last those that a run stopped. */
  branches({ state, at }: Entry<Position>, { branches }: Forking): Begun[] {
    const scope = scopeIdOf(state.ref.branch, at)
    const rank = new Map(this.facts.arrivals[scope]?.map((key, nth) => [key, nth]))
    const rankOf = (key: string) => rank.get(key) ?? rank.size + Number(this.stopped.has(branchOf(scope, key)))
    return branches
      .toSorted((a, b) => rankOf(a.key) - rankOf(b.key))
      .map((branch) => ({ ...branch, beyond: rank.has(branch.key) ? 'joined' : 'stopped' }))
  }

  collect(state: Position, outputs: Outputs): Arrival {
    const lookup = this.unknowns.lookup(state.data, lookupWith(state.data, outputs))
    const fork = forkOf(state)
    if (fork) refuseInResult(this.unknowns, fork, lookup)
    try {
      return collected(fork, lookup)
    } catch (err) {
      return notCollected(err, state)
    }
  }

  /** A script may read all data, so all of it must be known. */
  private mayCompute({ state, type }: Entry<Position>, config: StepConfig): boolean {
    if (type.mode !== 'effect' || !type.computes?.(config)) return false
    return this.unknowns.reasonIn(config as JsonObject) === null && this.unknowns.reasonIn(state.data) === null
  }

  private assume(place: Place, why: Assumption['why'] | null): void {
    if (why) this.assumed.push({ place, why })
  }

  /** A call is taken to succeed with an unknown result. A person's answer cannot be. */
  private neverCalled({ state, step, type }: Entry<Position>, place: Place): Came {
    const reason = { place, why: 'never called' as const }
    if (type.mode === 'pause' && !type.startsRun) throw new Undetermined(reason)
    this.assume(place, 'succeeds')
    const output = this.unknowns.make(reason)
    const delta =
      typeof step.saveAs === 'string' ? { [step.saveAs]: output } : this.unknowns.everyField(state.data, output)
    return { output, delta, isUnknown: true }
  }
}

function placeOf({ state, at }: Entry<Position>): Place {
  return { branch: state.ref.branch, ...at }
}

function isSame(a: Place, b: Place): boolean {
  return a.branch === b.branch && a.stepId === b.stepId && a.visit === b.visit
}

/** How a visit differs from the recorded one whose outcome it takes; null if it does not, or if nobody knows. */
function differenceOf(
  entry: Entry<Position>,
  fact: Fact,
  { version }: JsonObject,
  asksSame: boolean,
): Assumption['why'] | null {
  if (!asksSame) return isSame(fact, placeOf(entry)) ? 'other arguments' : 'another visit'
  // A step that is gone has another name now. One that is still there may have been answered otherwise.
  const isOther = fact.stepId !== entry.step.id && graphOf(entry.state.definition).step(fact.stepId) !== undefined
  if (isOther) return 'another step'
  const was = fact.asked?.version
  return was !== undefined && version !== undefined && was !== version ? 'another version' : null
}

/** @throws Undetermined if the visit says nothing about its step */
function cameOf({ came }: Fact, place: Place): Exclude<Fact['came'], string> {
  if (typeof came !== 'string') return came
  throw new Undetermined({ place, why: came === 'open' ? 'open' : 'stopped' })
}
