import { FAILURE_EXITS } from '../../definition/exits'
import { checkFields } from '../../definition/fields'
import { schemaOfFields } from '../../definition/fields-schema'
import { isJsonObject, type JsonValue, own } from '../../definition/json'
import type { Arrival, PauseAnswer } from '../../definition/run'
import type { Step } from '../../definition/schema'
import type { StepConfig } from '../../definition/step-config'
import { StepFailure } from '../../errors'
import { newId } from '../../ids'
import type { Entered, Entry, Position } from '../../interpreter/flow/index'
import {
  collected,
  enterResolved,
  failureAtEntry,
  fillIn,
  forkOf,
  lookupWith,
  notCollected,
  pathAside,
  requireVisit,
  TIMED_OUT,
} from '../../interpreter/flow/index'
import type { Asked, Forking } from '../../steps/define-step'
import type { Begun, Came, Failure, Outputs, Source, Watcher } from '../replay/source'
import { decided } from './decided'
import type { Path } from './path'
import type { Values } from './values'
import { isSure, type World } from './world'

/** Two rounds of a loop are enough: after that, a walk leaves it. */
const ROUNDS = 2
/** Also ends a loop without a decision. */
const MAX_VISITS = 8
/** The maximum items of a list. */
const MAX_ITEMS = 2

/** A list with two items and an empty one, as choices that some path has to make. */
const NO_ITEMS = 'no items'
export const LENGTHS: readonly string[] = ['two items', NO_ITEMS]

/** The failure of a step on a path that explores what follows. */
const SIMULATED = { code: 'SIMULATED', message: 'The simulation made this step fail.' }

/** Values and choices of a path, in place of effects and people. Every branch is walked. */
export class Generated implements Source, Watcher {
  readonly mostVisits = MAX_VISITS

  constructor(
    private readonly world: World,
    private readonly path: Path,
    private readonly values: Values,
    private readonly now: Date,
  ) {}

  visit({ state, step }: Entry<Position>): void {
    this.path.visit(step.id, state.ref.branch, pathAside(state) !== null)
  }

  leave(stepId: string, exit: string): void {
    this.path.leave(stepId, exit)
  }

  fail(step: Step, failure: Failure, handled: boolean): void {
    this.path.fail(step.id, failure, handled, isSure(this.world, step))
  }

  collect(state: Position, outputs: Outputs): Arrival {
    try {
      return collected(forkOf(state), lookupWith(state.data, outputs))
    } catch (err) {
      const arrival = notCollected(err, state)
      const fork = forkOf(state)
      if (fork && 'failed' in arrival) this.fail(fork, arrival.failed, false)
      return arrival
    }
  }

  enter(entry: Entry<Position>, outputs: Outputs): Entered {
    return this.decided(entry, this.take(entry, outputs))
  }

  private take(entry: Entry<Position>, outputs: Outputs): Entered {
    const { state, step, type } = entry
    try {
      requireVisit(entry)
      return enterResolved(entry, fillIn(step, type, lookupWith(state.data, outputs)))
    } catch (err) {
      const failure = failureAtEntry(err)
      // The cause may be that the generated values differ from a run's.
      const isOwn = failure.code !== 'INVALID_CONFIG' && isSure(this.world, step) && !this.path.assumed
      if (failure.code === 'LOOP_LIMIT' || isOwn) return { failure }
      this.path.doubt(step.id)
      return this.assume(entry) ?? { failure }
    }
  }

  /** Continues after a step whose values could not be filled in as if they had been. */
  private assume(entry: Entry<Position>): Entered | null {
    const { state, step, type } = entry
    const list = [0, 1].map((nth) => this.values.unknown(`${step.id} item ${nth}`, 'item'))
    const lists = Object.entries(type.takes ?? {}).flatMap(([name, wanted]) =>
      wanted === 'array' ? [[name, list]] : [],
    )
    const config = type.config.safeParse({ ...step, ...Object.fromEntries(lists) })
    if (!config.success || type.mode === 'end' || type.mode === 'fail') return null
    const parsed: StepConfig = Object.assign(
      {},
      config.data,
      typeof step.saveAs === 'string' ? { saveAs: step.saveAs } : {},
    )
    if (type.mode === 'effect' || type.mode === 'fork') return { begins: parsed, asked: null }
    if (type.mode === 'pause') {
      if (type.startsRun) parsed.$runId = newId('run')
      return { begins: parsed, asked: this.askedBy(entry, parsed) }
    }
    const exit = this.path.choose(step.id, this.exitsOf(step.id))
    return { config: parsed, outputData: {}, delta: {}, grown: state, exit: exit ?? 'next' }
  }

  /** Null if its question depends on unknown values. */
  private askedBy({ state, step, type }: Entry<Position>, config: StepConfig): Asked | null {
    if (type.mode !== 'pause') return null
    try {
      const asked = type.ask({ stepId: step.id, config, data: state.data, now: this.now })
      return 'signal' in asked ? asked : null
    } catch (err) {
      if (err instanceof StepFailure) return null
      throw err
    }
  }

  private exitsOf(stepId: string): string[] {
    return (this.world.exits.get(stepId) ?? []).filter((exit) => !FAILURE_EXITS.includes(exit))
  }

  /** Decisions that ignore their values: to leave a loop, or to take an exit that no values have led to yet. */
  private decided({ step, type, at }: Entry<Position>, taken: Entered): Entered {
    if (type.mode !== 'pure' || !('exit' in taken)) return taken
    if (this.path.wants(step.id, 'error') && this.world.leads(step.id, 'error')) {
      this.path.assume()
      return { failure: SIMULATED }
    }
    const exits = this.exitsOf(step.id)
    if (exits.length < 2) return taken
    const out = exits.filter((exit) => this.world.leavesLoop(step.id, exit))
    const isLong = at.visit > ROUNDS && out.length > 0 && out.length < exits.length
    const isAway = this.path.leadsAway(step.id, taken.exit, exits)
    const wanted = isLong
      ? out.includes(taken.exit)
        ? taken.exit
        : this.path.choose(step.id, out)
      : (exits.find((exit) => this.path.wants(step.id, exit)) ??
        (isAway ? this.path.choose(step.id, exits) : undefined))
    if (wanted === undefined || wanted === taken.exit) return taken
    this.path.assume()
    return { ...taken, exit: wanted }
  }

  outcome(entry: Entry<Position>, _config: StepConfig, asked: Asked | null): Came {
    if (entry.type.mode === 'pause') return this.answered(entry, asked)
    if (this.choice(entry, ['next'], this.mayFail(entry)) === 'error') return { failed: SIMULATED }
    return { output: this.answerFor(entry) }
  }

  /** Each branch of a parallel; of a list, no items or two. */
  branches({ step, type }: Entry<Position>, { branches }: Forking): Begun[] {
    const begun = type.mode === 'fork' && type.merges ? branches : branches.slice(0, this.items(step.id))
    return begun.map((branch) => ({ ...branch, beyond: 'walked' }))
  }

  /** Takes the exit taken least often, and leaves a loop after enough rounds. */
  private choice({ step, at }: Entry<Position>, ways: readonly string[], mayFail: boolean): string {
    const all = mayFail ? [...ways, 'error'] : ways
    const out = at.visit > ROUNDS ? all.filter((exit) => this.world.leavesLoop(step.id, exit)) : []
    return this.path.choose(step.id, out.length > 0 ? out : all) ?? 'next'
  }

  /** Whether anything would follow from a failure. */
  private mayFail({ state, step }: Entry<Position>): boolean {
    const caughtBy = (id: string) => this.world.leads(id, 'error')
    const around = [...state.ref.branch.matchAll(/\/([^/#]+)#/g)].map(([, id]) => id ?? '')
    const isOnPath = this.world.definition.onFailure !== undefined && !state.run.failing
    return caughtBy(step.id) || around.some(caughtBy) || (isOnPath && state.own === null)
  }

  private answerFor({ step }: Entry<Position>): JsonValue {
    const given = own(this.world.answers, step.id)
    if (given !== undefined) return given
    const name = typeof step.saveAs === 'string' ? step.saveAs : step.id
    const known = this.world.outputs.get(step.id)
    return known?.schema ? this.values.of(known.schema, step.id, name) : this.values.unknown(step.id, name)
  }

  private answered(entry: Entry<Position>, asked: Asked | null): Came {
    const { step, type } = entry
    if (type.mode !== 'pause') throw new StepFailure('INVALID_CONFIG', `${step.id} asks nothing`)
    const { signal } = asked ?? { signal: null }
    const ways = signal?.type === 'request_user_action' ? signal.actions.map(({ id }) => id) : ['next']
    const late = this.world.leads(step.id, 'timeout') && step.expiresIn !== undefined ? ['timeout'] : []
    const way = this.choice(entry, [...ways, ...late], type.startsRun === true && this.mayFail(entry))
    if (way === 'timeout') return { failed: { code: TIMED_OUT, message: type.late ?? 'Nobody answered in time.' } }
    if (way === 'error') return { failed: SIMULATED }
    return { answer: this.answer(entry, asked, way) }
  }

  private answer(entry: Entry<Position>, asked: Asked | null, way: string): PauseAnswer {
    const { step, type } = entry
    const given = own(this.world.answers, step.id)
    if (type.mode === 'pause' && type.startsRun) return { child: { result: this.answerFor(entry) } }
    if (asked?.event) {
      const { name, key } = asked.event
      const data = given ?? this.values.unknown(step.id, typeof step.saveAs === 'string' ? step.saveAs : step.id)
      const inside = isJsonObject(data) ? (isJsonObject(data.data) ? data.data : data) : {}
      return { event: { id: 'evt_simulated', name, key, data: inside, receivedAt: this.now.toISOString() } }
    }
    if (asked?.signal?.type === 'collect_inputs') {
      const { fields } = asked.signal
      const filled = given ?? this.values.of(schemaOfFields(fields), step.id, step.id)
      return { data: checkFields(fields, isJsonObject(filled) ? filled : {}).data }
    }
    if (asked?.signal) return decided(this.values, asked.signal, { stepId: step.id, actionId: way, given })
    return { due: true }
  }

  /** How many items of a list to iterate: none on some path, two on another. */
  private items(stepId: string): number {
    const way = this.path.choose(stepId, LENGTHS)
    this.path.leave(stepId, way ?? '')
    return way === NO_ITEMS ? 0 : MAX_ITEMS
  }
}
