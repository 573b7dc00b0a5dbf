import { scopeIdOf } from '../../definition/branches'
import type { JsonObject } from '../../definition/json'
import type { StepConfig } from '../../definition/step-config'
import { type Place, placeKey } from '../../definition/verdict'
import type { Entry, Position } from '../../interpreter/flow/index'
import type { Asked, Forking } from '../../steps/define-step'
import type { Fact } from './facts'
import type { Origins } from './origins'
import { placeOf, Recorded } from './recorded'
import type { Begun, Came, Compute, Computing, Outputs, Source } from './source'
import { completed, type TypedFact, typedCame, type Voter } from './typed'
import type { Unknowns } from './unknown'

/** Branches of a fork that are left out: from this one to before that one, or to the last. */
export interface Skip {
  scope: string
  from: string
  to: string | null
}

/** What a walk is given, and where it stands still. */
export interface Stepping {
  facts: readonly TypedFact[]
  changes: readonly { before: Place; fields: JsonObject }[]
  skips: readonly Skip[]
  /** How many visits the walk passes without stopping. */
  passed: number
  /** Where it stands then: before each visit, or only before those of these steps. */
  stop: 'each' | ReadonlySet<string>
  voter: Voter
}

/** The walk stands before a visit, or needs to know what comes of it. */
export class Halt extends Error {
  override name = 'Halt'
}

/**
 * Facts that arrive one by one: the walk stands still where the next one is missing. A time passes, and what only
 * computes is computed; everything else waits to be said.
 */
export class Arriving implements Source {
  readonly mostVisits
  /** Results of the steps that were computed. */
  readonly computed: (Place & { came: Came })[] = []
  /** By fork: the branches that it began. */
  readonly begun = new Map<string, string[]>()
  /** Where the walk is. */
  standing: { entry: Entry<Position>; outputs: Outputs } | null = null
  private readonly recorded: Recorded
  private readonly facts: ReadonlyMap<string, Fact>
  private visits = 0

  constructor(
    private readonly stepping: Stepping,
    private readonly computing: Computing,
    readonly unknowns: Unknowns,
    private readonly origins: Origins,
  ) {
    const facts = stepping.facts.map(factOf)
    this.facts = new Map(facts.map((fact) => [placeKey(fact), fact]))
    const edits = stepping.changes.map(({ before, fields }) => ({ before, data: fields }))
    this.recorded = new Recorded({ input: {}, edits, visits: facts, arrivals: {} }, computing, { unknowns })
    this.mostVisits = this.recorded.mostVisits
  }

  edits(entry: Entry<Position>): JsonObject | null {
    const fields = this.recorded.edits(entry)
    if (fields) this.origins.changed(entry, fields)
    return fields
  }

  enter(entry: Entry<Position>, outputs: Outputs): ReturnType<Source['enter']> {
    this.standing = { entry, outputs }
    const { passed, stop } = this.stepping
    if (this.visits++ >= passed && (stop === 'each' || stop.has(entry.step.id))) throw new Halt()
    return this.look(entry, outputs)
  }

  /** What a step does, without its work. */
  look(entry: Entry<Position>, outputs: Outputs): ReturnType<Source['enter']> {
    return this.recorded.enter(entry, outputs)
  }

  outcome(entry: Entry<Position>, config: StepConfig, asked: Asked | null): Came | { compute: Compute } {
    const place = placeOf(entry)
    const fact = this.facts.get(placeKey(place))
    if (fact) {
      fact.came = completed(fact.came, asked, { now: entry.now, voter: this.stepping.voter })
      return this.recorded.outcome(entry, config, asked)
    }
    if (entry.type.mode === 'pause' && entry.type.elapses) return { answer: { due: true } }
    if (!this.mayCompute(entry, config)) throw new Halt()
    return {
      compute: async (mostMs) => {
        const came = await this.computing.run(entry, config, mostMs)
        this.computed.push({ ...place, came })
        return came
      },
    }
  }

  mayCompute(entry: Entry<Position>, config: StepConfig): boolean {
    return this.recorded.mayCompute(entry, config)
  }

  branches(entry: Entry<Position>, forking: Forking): Begun[] {
    const scope = scopeIdOf(entry.state.ref.branch, entry.at)
    const all = this.recorded.branches(entry, forking)
    const keys = all.map(({ key }) => key)
    this.begun.set(scope, keys)
    const left = this.stepping.skips.filter((skip) => skip.scope === scope)
    const at = (key: string | null) => (key === null ? keys.length : keys.indexOf(key))
    return all.filter((_, nth) => !left.some(({ from, to }) => at(from) >= 0 && nth >= at(from) && nth < at(to)))
  }

  collect(...of: Parameters<Source['collect']>): ReturnType<Source['collect']> {
    return this.recorded.collect(...of)
  }
}

function factOf({ came, ...place }: TypedFact): Fact {
  return { ...place, type: '', start: null, asked: null, came: typedCame(came) }
}
