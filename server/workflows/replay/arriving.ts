import { scopeIdOf } from '../../definition/branches'
import type { JsonObject, JsonValue } from '../../definition/json'
import type { PauseAnswer, PauseSignal } from '../../definition/run'
import type { StepConfig } from '../../definition/step-config'
import { isSamePlace, type Place } from '../../definition/verdict'
import type { Entry, Position } from '../../interpreter/flow/index'
import type { Asked, Forking } from '../../steps/define-step'
import type { Fact, FactCame } from './facts'
import type { Origins } from './origins'
import { placeOf, Recorded } from './recorded'
import type { Begun, Came, Compute, Computing, Failure, Outputs, Source } from './source'
import type { Unknowns } from './unknown'

/** An answer as a person gives it to a step that asks nobody. */
export type TypedAnswer =
  | { data: JsonObject }
  | { actionId: string; data?: JsonObject | undefined; remark?: string | undefined }
  | { event: JsonObject; key?: string | undefined }

/** What came of a visit, as far as a person has said. */
export type TypedFact = Place & { came: { output: JsonValue } | { failed: Failure } | { answer: TypedAnswer } }

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
  /** Who votes. */
  voter: { id: string; name: string }
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
  private readonly facts: Fact[]
  private visits = 0

  constructor(
    private readonly stepping: Stepping,
    private readonly computing: Computing,
    readonly unknowns: Unknowns,
    private readonly origins: Origins,
  ) {
    this.facts = stepping.facts.map(factOf)
    const edits = stepping.changes.map(({ before, fields }) => ({ before, data: fields }))
    this.recorded = new Recorded({ input: {}, edits, visits: this.facts, arrivals: {} }, computing, { unknowns })
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
    const fact = this.facts.find((one) => isSamePlace(one, place))
    if (fact) {
      this.complete(fact, asked, entry.now)
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

  /** Adds to an answer what the product adds in a run. */
  private complete(fact: Fact, asked: Asked | null, now: Date): void {
    if (typeof fact.came === 'string' || !('answer' in fact.came)) return
    const answer = fact.came.answer
    if ('event' in answer && asked?.event) {
      const { name, key } = asked.event
      const { data } = answer.event
      const event = { id: 'evt_typed', name, key: answer.event.key ?? key, data, receivedAt: now.toISOString() }
      fact.came = { answer: { event } }
    } else if ('actionId' in answer && asked?.signal) {
      fact.came = { answer: { ...answer, ...this.votes(asked.signal, answer) } }
    }
  }

  /** As many as the action needs: it is about what follows. */
  private votes(signal: PauseSignal, { actionId, data, remark }: Extract<PauseAnswer, { actionId: string }>): object {
    if (signal.type !== 'request_user_action' || !signal.needs) return {}
    const { id: by, name } = this.stepping.voter
    const vote = { by, name, actionId, ...(data ? { data } : {}), ...(remark === undefined ? {} : { remark }) }
    const needed = Math.min(signal.needs[actionId] ?? 1, MAX_VOTES)
    return { votes: Array.from({ length: needed }, (_, nth) => (nth === 0 ? vote : { ...vote, by: `${by}#${nth}` })) }
  }
}

const MAX_VOTES = 100

function factOf({ came, ...place }: TypedFact): Fact {
  return { ...place, type: '', start: null, asked: null, came: cameOf(came) }
}

function cameOf(came: TypedFact['came']): FactCame {
  if (!('answer' in came)) return came
  const { answer } = came
  if ('event' in answer) {
    const { event: data, key = null } = answer
    return { answer: { event: { id: '', name: '', key, data, receivedAt: '' } } }
  }
  if (!('actionId' in answer)) return { answer }
  const { actionId, data, remark } = answer
  const given = { ...(data ? { data } : {}), ...(remark === undefined ? {} : { remark }) }
  return { answer: { actionId, actionValue: actionId, ...given } }
}
