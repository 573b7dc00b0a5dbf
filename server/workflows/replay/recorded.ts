import { branchOf, scopeIdOf } from '../../definition/branches'
import { graphOf } from '../../definition/graph'
import { type JsonObject, type JsonValue, own } from '../../definition/json'
import { reachable } from '../../definition/paths'
import type { Arrival } from '../../definition/run'
import type { Definition, Step } from '../../definition/schema'
import type { StepConfig } from '../../definition/step-config'
import { literalConfig } from '../../definition/templated-config'
import {
  type Assumption,
  isSamePlace,
  type Place,
  placeKey,
  type Reason,
  type WayVisit,
} from '../../definition/verdict'
import type { Entry, Position } from '../../interpreter/flow/index'
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
import type { AnyStep, Asked, Forking } from '../../steps/define-step'
import { findStepType } from '../../steps/registry'
import { answerAgain, type Hides } from './answers'
import { CallLog } from './calls'
import { askedWith, type Fact, type FactCame, type Facts } from './facts'
import { Matching } from './match'
import type { Said } from './said'
import type { Begun, Came, Compute, Computing, Outputs, Source } from './source'
import { completed } from './typed'
import { Undetermined, Unknowns } from './unknown'
import { givenUnknown, readsUnknown, refuseInResult, withUnknownFields } from './unknown-steps'

/** Only ends a walk that would never end. */
const MAX_VISITS = 20_000

const NOBODY = { id: '', name: '' }

/** What else a walk is given. */
interface Given {
  unknowns?: Unknowns
  /** What calls give that the run did not make, by step. */
  assume?: JsonObject
  /** Whether the path behind an exit is another than in the version of the run. */
  pathDiffers?: (stepId: string, exit: string) => boolean
  /** The visit that the run recorded, if a step that touches something hidden does as it did. */
  asRecorded?: (entry: Entry<Position>) => WayVisit | null
  /** A person's changes of the facts. */
  said?: Said
  /** Collects what effects, pauses and children ask, and the outcomes. */
  seen?: Map<string, Seen>
}

/** What a visit asks, and what comes of it; null if that is not known. */
export interface Seen {
  config: JsonObject
  asked: Asked | null
  came: Came | null
}

/**
 * What a run recorded, for a walk of another version or of its own. Where that does not determine how the walk continues,
 * it throws `Undetermined`.
 */
export class Recorded implements Source {
  readonly mostVisits = MAX_VISITS
  readonly unknowns: Unknowns
  readonly assumed: Assumption[] = []
  readonly calls: CallLog
  private readonly matching: Matching
  private readonly applied = new Set<Facts['edits'][number]>()
  /** The branches that another one stopped. */
  private readonly stopped: ReadonlySet<string>

  constructor(
    private readonly facts: Facts,
    private readonly computing: Computing,
    private readonly given: Given = {},
  ) {
    this.unknowns = given.unknowns ?? new Unknowns()
    this.matching = new Matching(facts.visits)
    this.calls = new CallLog(facts.visits, this.matching, computing)
    this.stopped = new Set(facts.visits.filter(({ came }) => came === 'stopped').map(({ branch }) => branch))
  }

  edits(entry: Entry<Position>): JsonObject | null {
    const place = placeOf(entry)
    const found = this.facts.edits.find(({ before }) => isSamePlace(before, place))
    if (found) this.applied.add(found)
    const said = this.given.said?.edits(place)
    return said ? { ...found?.data, ...said } : (found?.data ?? null)
  }

  /** The walk has come to its end. */
  ended(): void {
    for (const edit of this.facts.edits) if (!this.applied.has(edit)) this.assume(edit.before, 'edit left out')
  }

  enter(given: Entry<Position>, outputs: Outputs): ReturnType<Source['enter']> {
    const start = this.matching.at(placeOf(given))?.start
    const entry = start ? { ...given, now: new Date(start) } : given
    const lookup = this.unknowns.lookup(entry.state.data, lookupWith(entry.state.data, outputs))
    let touched: Reason | null = null
    try {
      requireVisit(entry)
      touched = readsUnknown(this.unknowns, entry, lookup)
      const step = touched ? withUnknownFields(this.unknowns, entry.step, lookup) : entry.step
      if (step.compute !== entry.step.compute && !this.isAsRecorded(entry, touched))
        this.assume(placeOf(entry), 'can be computed')
      return enterResolved(entry, fillIn(step, entry.type, lookup))
    } catch (err) {
      const reason = err instanceof Undetermined ? err.reason : touched
      const recorded = this.isAsRecorded(entry, reason) ? this.enteredAsRecorded(entry) : null
      if (recorded) return recorded
      const failure = err instanceof Undetermined ? null : failureAtEntry(err)
      if (reason || !failure) throw reason ? new Undetermined(reason) : err
      return { failure }
    }
  }

  outcome(entry: Entry<Position>, config: StepConfig, asked: Asked | null): Came | { compute: Compute } {
    const { seen } = this.given
    if (!seen) return this.outcomeOf(entry, config, asked)
    const one: Seen = { config: askedWith(config), asked, came: null }
    seen.set(placeKey(placeOf(entry)), one)
    const found = this.outcomeOf(entry, config, asked)
    const see = (came: Came) => {
      one.came = came
      return came
    }
    return 'compute' in found ? { compute: (mostMs) => found.compute(mostMs).then(see) } : see(found)
  }

  private outcomeOf(entry: Entry<Position>, config: StepConfig, asked: Asked | null): Came | { compute: Compute } {
    const { type } = entry
    const place = placeOf(entry)
    const wanted = askedWith(config)
    const hidden = this.unknowns.reasonIn(wanted) ?? this.unknowns.reasonIn(asked?.event?.rules.values)
    const isRecorded = this.isAsRecorded(entry, hidden)
    const same = (isRecorded ? this.take(place, type) : undefined) ?? this.matching.same(place, type.type, wanted)
    if (type.mode === 'pause' && type.elapses) {
      if (same) cameOf(same, place)
      return { answer: { due: true } }
    }
    const said = this.given.said?.came(place) ?? null
    if (said) return this.asSaid(entry, asked, { config, said, same })
    if (!same && hidden?.why === 'hidden') this.refuseIfMayBeSame(entry, wanted, hidden)
    const isOld = same !== undefined && differsInVersion(same, wanted.version)
    if ((!same || isOld) && this.mayCompute(entry, config)) {
      this.assume(place, 'computed now')
      return { compute: (mostMs) => this.computing.run(entry, config, mostMs) }
    }
    const fact = same ?? this.matching.likely(place, type.type)
    this.countCall(entry, config, same, false)
    if (!fact) return this.neverCalled(entry, place)
    const came = cameOf(fact, place)
    this.assume(place, differenceOf(entry, fact, wanted, same !== undefined))
    if ('failed' in came || type.mode !== 'pause') return came as Came
    if (hidden && asked?.event && !isRecorded) throw new Undetermined(hidden)
    const hides: Hides = (reason) => {
      if (!this.isAsRecorded(entry, reason)) throw new Undetermined(reason)
    }
    return { answer: answerAgain(entry, asked, came, { place, unknowns: this.unknowns, hides }) }
  }

  private countCall(entry: Entry<Position>, config: StepConfig, same: Fact | undefined, isSaid: boolean): void {
    const { type } = entry.type
    const place = placeOf(entry)
    if (!this.calls.isCall(type, config)) return
    const isOld = same !== undefined && differsInVersion(same, askedWith(config).version)
    const asks = isOld ? 'another version' : same ? 'same' : 'other'
    this.calls.count(place, same ?? this.matching.likely(place, type), asks, isSaid)
  }

  /** @throws Undetermined if the answer does not fit the question */
  private asSaid(
    entry: Entry<Position>,
    asked: Asked | null,
    { config, said, same }: { config: StepConfig; said: FactCame; same: Fact | undefined },
  ): Came {
    const place = placeOf(entry)
    this.countCall(entry, config, same, true)
    const voter = this.given.said?.voter ?? NOBODY
    const came = completed(said, asked, { now: entry.now, voter })
    if (typeof came === 'string') throw new Undetermined({ place, why: 'stopped' })
    if ('failed' in came || entry.type.mode !== 'pause') return came
    const hides: Hides = (reason) => {
      throw new Undetermined(reason)
    }
    return { answer: answerAgain(entry, asked, came, { place, unknowns: this.unknowns, hides }) }
  }

  /** The branches that ended in the run, as they did; then the others, and last those that a run stopped. */
  branches(entry: Entry<Position>, forking: Forking): Begun[] {
    const { branches } = forking
    const scope = scopeIdOf(entry.state.ref.branch, entry.at)
    if (this.racesAnew(entry, forking, scope)) this.assume(placeOf(entry), 'order')
    const rank = new Map(this.facts.arrivals[scope]?.map((key, nth) => [key, nth]))
    const rankOf = (key: string) => rank.get(key) ?? rank.size + Number(this.stopped.has(branchOf(scope, key)))
    return branches
      .toSorted((a, b) => rankOf(a.key) - rankOf(b.key))
      .map((branch) => ({ ...branch, beyond: rank.has(branch.key) ? 'joined' : 'stopped' }))
  }

  /** Whether it matters which branch ends first, and one of them is another than in the run. */
  private racesAnew(
    { state, step }: Entry<Position>,
    { branches, need, stopOnError }: Forking,
    scope: string,
  ): boolean {
    const { pathDiffers } = this.given
    const exits = [...new Set(branches.map(({ exit }) => exit))]
    if (branches.length < 2 || !pathDiffers || !exits.some((exit) => pathDiffers(step.id, exit))) return false
    const failed = ({ branch, came }: Fact) =>
      typeof came !== 'string' && 'failed' in came && branch.startsWith(`${scope}/`)
    return (
      (need !== null && need < branches.length) ||
      exits.some((exit) => endsRun(state.definition, graphOf(state.definition).target(step.id, exit))) ||
      (stopOnError && this.facts.visits.some(failed))
    )
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
  mayCompute({ state, type }: Entry<Position>, config: StepConfig): boolean {
    if (!this.computing.may(type, config)) return false
    return this.unknowns.reasonIn(config as JsonObject) === null && this.unknowns.reasonIn(state.data) === null
  }

  /** @throws Undetermined if something hidden decides whether the run asked the same */
  private refuseIfMayBeSame(entry: Entry<Position>, wanted: JsonObject, hidden: Reason): void {
    const isGone = (stepId: string) => graphOf(entry.state.definition).step(stepId) === undefined
    if (this.matching.mayBeSame(placeOf(entry), entry.type.type, wanted, isGone)) throw new Undetermined(hidden)
  }

  /** The visit of the run at this place, whose outcome a step has because it is unchanged. */
  private take(place: Place, type: AnyStep): Fact | undefined {
    const fact = this.matching.at(place)
    if (!fact || fact.type !== type.type || this.matching.isTaken(fact)) return undefined
    this.matching.take(fact)
    return fact
  }

  /** Whether a step that touches something unknown does as the run recorded, which only hidden values can be known of. */
  private isAsRecorded(entry: Entry<Position>, touched: Reason | null): boolean {
    return touched?.why === 'hidden' && (this.given.asRecorded?.(entry) ?? null) !== null
  }

  /** A step that decides on something hidden, as it did in the run. Null if that cannot be said. */
  private enteredAsRecorded(entry: Entry<Position>): ReturnType<Source['enter']> | null {
    const visit = this.given.asRecorded?.(entry)
    const asked = this.matching.at(placeOf(entry))?.asked
    if (entry.type.mode === 'effect' && asked) return { begins: configAgain(entry.step, asked), asked: null }
    if (entry.type.mode !== 'pure' || !visit || visit.isFailed) return null
    const mark = this.unknowns.make({ why: 'hidden', place: placeOf(entry) })
    return givenUnknown(entry, mark, visit.exit ?? 'next')
  }

  private assume(place: Place, why: Assumption['why'] | null): void {
    if (why) this.assumed.push({ place, why })
  }

  /** A call is taken to succeed with an unknown result. A person's answer cannot be. */
  private neverCalled({ state, step, type }: Entry<Position>, place: Place): Came {
    const reason = { place, why: 'never called' as const }
    if (type.mode === 'pause' && !type.startsRun) throw new Undetermined(reason)
    const given = own(this.given.assume ?? {}, step.id)
    this.assume(place, given === undefined ? 'succeeds' : 'given')
    if (given !== undefined) return type.mode === 'pause' ? { answer: { child: { result: given } } } : { output: given }
    const output = this.unknowns.make(reason)
    const delta =
      typeof step.saveAs === 'string' ? { [step.saveAs]: output } : this.unknowns.everyField(state.data, output)
    return { output, delta, isUnknown: true }
  }
}

function configAgain(step: Step, asked: JsonObject): StepConfig {
  const { saveAs } = step
  return { ...literalConfig(step), ...asked, ...(typeof saveAs === 'string' ? { saveAs } : {}) }
}

function endsRun(definition: Definition, start: string | null): boolean {
  const steps = start === null ? [] : [...reachable(definition, start)]
  return steps.some((id) => findStepType(graphOf(definition).step(id)?.type ?? '')?.mode === 'end')
}

export function placeOf({ state, at }: Entry<Position>): Place {
  return { branch: state.ref.branch, ...at }
}

/** How a visit differs from the recorded one whose outcome it takes; null if it does not, or if nobody knows. */
function differenceOf(
  entry: Entry<Position>,
  fact: Fact,
  { version }: JsonObject,
  asksSame: boolean,
): Assumption['why'] | null {
  if (!asksSame) return isSamePlace(fact, placeOf(entry)) ? 'other arguments' : 'another visit'
  // A step that is gone has another name now. One that is still there may have been answered otherwise.
  const isOther = fact.stepId !== entry.step.id && graphOf(entry.state.definition).step(fact.stepId) !== undefined
  if (isOther) return 'another step'
  return differsInVersion(fact, version) ? 'another version' : null
}

function differsInVersion({ asked }: Fact, version: JsonValue | undefined): boolean {
  const was = asked?.version
  return was !== undefined && version !== undefined && was !== version
}

/** @throws Undetermined if the visit says nothing about its step */
function cameOf({ came }: Fact, place: Place): Exclude<Fact['came'], string> {
  if (typeof came !== 'string') return came
  throw new Undetermined({ place, why: came === 'open' ? 'open' : 'stopped' })
}
