import { branchOf, scopeIdOf } from '../../definition/branches'
import { FAILURE_EXITS } from '../../definition/exits'
import { checkFields } from '../../definition/fields'
import { schemaOfFields } from '../../definition/fields-schema'
import { graphOf } from '../../definition/graph'
import {
  inStoredOrder,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  own,
  toStorableJson,
} from '../../definition/json'
import type { Arrival, PauseAnswer } from '../../definition/run'
import type { StepConfig } from '../../definition/step-config'
import { StepFailure } from '../../errors'
import { newId } from '../../ids'
import type { Entered, Entry, Position } from '../../interpreter/flow/index'
import {
  afterCatch,
  catching,
  collected,
  enterResolved,
  exitOfAnswer,
  failureAtEntry,
  failureOf,
  failurePath,
  fillIn,
  fork,
  forkOf,
  lookupWith,
  notCollected,
  pathAside,
  requireVisit,
  stateOf,
  storableOutput,
  TIMED_OUT,
  withDelta,
  yielded,
} from '../../interpreter/flow/index'
import type { Visit } from '../../run-store/names'
import type { Asked, Joined } from '../../steps/define-step'
import { findStepType } from '../../steps/registry'
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

type Failure = { code: string; message: string }
type Outputs = Record<string, JsonObject>

/** How a walk ended: a branch arrives; the run's own walk ends the run, with `arrival` null if its path just ended. */
export interface Ended {
  state: Position
  arrival: Arrival | null
}

/** A walk that visited one step too often. */
export class Cut extends Error {
  override name = 'Cut'
}

/**
 * Walks a path like the interpreter, with the same parts: filling in and computing a step, its exits, the continuation
 * after a failure or an answer, and the end of branches. Only effects and people are replaced, by values and choices.
 * Yields before each visit.
 */
export class Walker {
  /** Per step, without its branches. */
  protected readonly mostVisits: number = MAX_VISITS

  constructor(
    protected readonly world: World,
    protected readonly path: Path,
    private readonly values: Values,
    protected readonly now: Date,
  ) {}

  *walk(from: Position, start: string | null, known: Outputs = {}): Generator<void, Ended> {
    const { definition } = this.world
    const graph = graphOf(definition)
    const visits: Record<string, number> = {}
    const outputs = { ...known }
    let state = from
    for (let target = start; ; ) {
      if (target === null) return { state, arrival: state.own === null ? null : this.collect(state, outputs) }
      yield
      const step = graph.step(target)
      const type = step && findStepType(step.type)
      if (!step || !type) throw new Error(`No step ${target}`)
      const at: Visit = { stepId: step.id, visit: (own(visits, step.id) ?? 0) + 1 }
      visits[step.id] = at.visit
      if (at.visit > this.mostVisits) throw new Cut()
      this.path.visit(step.id, state.ref.branch, pathAside(state) !== null)
      const entry: Entry<Position> = { state, step, type, at, now: this.now }
      const found = this.decided(entry, this.take(entry, outputs))
      const taken: Done = 'begins' in found ? yield* this.perform(entry, found, outputs) : found
      if ('ends' in taken) {
        const { ends } = taken
        const onward =
          ends.status === 'failed'
            ? failurePath(state, at, { ...ends.error, stepId: ends.error.stepId ?? step.id })
            : null
        if (!onward) return { state, arrival: { ends } }
        state = afterCatch(state, onward)
        target = onward.target
        continue
      }
      if ('fails' in taken) {
        const onward = failurePath(state, at, taken.fails)
        if (!onward)
          return { state, arrival: { ends: { status: 'failed', error: { ...taken.fails, stepId: step.id } } } }
        state = afterCatch(state, onward)
        target = onward.target
        continue
      }
      if ('failure' in taken) {
        const caught = catching(state, at, taken.failure)
        if (!taken.meant)
          this.path.fail(step.id, taken.failure, caught?.columns.handled === true, isSure(this.world, step))
        if (!caught) {
          const failed = { stepId: step.id, ...taken.failure }
          return { state, arrival: { failed, outcome: failed.code === TIMED_OUT ? 'timed_out' : 'failed' } }
        }
        if (caught.columns.exit !== null) this.path.leave(step.id, caught.columns.exit)
        state = afterCatch(state, caught)
        target = caught.target
        continue
      }
      state = { ...state, ...taken.grown }
      outputs[step.id] = taken.outputData
      if (taken.result !== undefined) {
        const ends = { status: 'completed' as const, result: taken.result, stepId: step.id }
        return { state, arrival: { ends } }
      }
      this.path.leave(step.id, taken.exit)
      target = taken.next === undefined ? graph.target(step.id, taken.exit) : taken.next
    }
  }

  private collect(state: Position, outputs: Outputs): Arrival {
    try {
      return collected(forkOf(state), lookupWith(state.data, outputs))
    } catch (err) {
      const arrival = notCollected(err, state)
      const fork = forkOf(state)
      if (fork && 'failed' in arrival) this.path.fail(fork.id, arrival.failed, false, isSure(this.world, fork))
      return arrival
    }
  }

  protected take(entry: Entry<Position>, outputs: Outputs): Entered {
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
  protected decided({ step, type, at }: Entry<Position>, taken: Entered): Entered {
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

  /** Does not execute effects, asks nobody, and follows branches one by one. */
  protected *perform(
    entry: Entry<Position>,
    { begins: config, asked }: Extract<Entered, { begins: StepConfig }>,
    outputs: Outputs,
  ): Generator<void, Done> {
    const { type } = entry
    if (type.mode === 'fork') return yield* this.branches(entry, config, outputs)
    try {
      if (type.mode === 'pause') return this.answered(entry, config, asked)
      if (this.choice(entry, ['next'], this.mayFail(entry)) === 'error') return { failure: SIMULATED, meant: true }
      return yielded(entry, config, { output: this.answerFor(entry) }) as Computed
    } catch (err) {
      return { failure: failureAtEntry(err) }
    }
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

  private answered(entry: Entry<Position>, config: StepConfig, asked: Asked | null): Done {
    const { step, type } = entry
    if (type.mode !== 'pause') throw new StepFailure('INVALID_CONFIG', `${step.id} asks nothing`)
    const { signal } = asked ?? { signal: null }
    const ways = signal?.type === 'request_user_action' ? signal.actions.map(({ id }) => id) : ['next']
    const late = this.world.leads(step.id, 'timeout') && step.expiresIn !== undefined ? ['timeout'] : []
    const way = this.choice(entry, [...ways, ...late], type.startsRun === true && this.mayFail(entry))
    if (way === 'timeout')
      return { failure: { code: TIMED_OUT, message: type.late ?? 'Nobody answered in time.' }, meant: true }
    if (way === 'error') return { failure: SIMULATED, meant: true }
    return this.resumed(
      entry,
      config,
      this.answer(entry, asked, way),
      signal?.type === 'request_user_action' ? way : 'next',
    )
  }

  /** The continuation after an answer, as in a run. */
  protected resumed(
    { state, step, type, at }: Entry<Position>,
    config: StepConfig,
    answer: PauseAnswer,
    way: string,
  ): Done {
    if (type.mode !== 'pause') throw new StepFailure('INVALID_CONFIG', `${step.id} asks nothing`)
    const { output, delta, exit } = type.answer({ stepId: step.id, config, answer })
    const { next } = exitOfAnswer(this.world.definition, type, step.id, exit)
    const grown = withDelta(state, inStoredOrder(toStorableJson(delta)), state.ref, at)
    return { config, outputData: output, delta, grown, exit: way, next }
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
  protected items(stepId: string): number {
    const way = this.path.choose(stepId, LENGTHS)
    this.path.leave(stepId, way ?? '')
    return way === NO_ITEMS ? 0 : MAX_ITEMS
  }

  protected *branches(entry: Entry<Position>, config: StepConfig, outputs: Outputs): Generator<void, Done> {
    const { state, step, type, at } = entry
    if (type.mode !== 'fork') throw new StepFailure('INVALID_CONFIG', `${step.id} runs no branches`)
    const forking = fork(type, config, state.ref)
    // Each branch of a parallel; of a list, no items or two.
    const begun = type.merges ? forking.branches : forking.branches.slice(0, this.items(step.id))
    const need = forking.need === forking.branches.length ? begun.length : forking.need
    const joined: Joined[] = []
    const counts = { total: begun.length, need, stopOnError: forking.stopOnError, succeeded: 0, failed: 0 }
    let cause: Extract<Arrival, { failed: object }> | null = null
    const graph = graphOf(this.world.definition)
    for (const { key, exit, data } of begun) {
      const branch = branchOf(scopeIdOf(state.ref.branch, at), key)
      const mine = { data, refs: {} }
      const inside = { ...state, ref: { ...state.ref, branch }, own: mine, data: { ...state.data, ...data } }
      this.path.leave(step.id, exit)
      const { state: end, arrival } = yield* this.walk(inside, graph.target(step.id, exit), outputs)
      const base = { key, result: null, error: null, data: end.own?.data ?? {} }
      if (arrival && 'ends' in arrival) return arrival
      if (arrival && 'failed' in arrival) {
        cause ??= arrival
        counts.failed++
        joined.push({ ...base, state: 'failed', error: arrival.failed })
        if (counts.stopOnError) break
        continue
      }
      // Only as many as needed count; the others would have been stopped.
      const isNeeded = need === null || counts.succeeded < need
      if (isNeeded) counts.succeeded++
      joined.push({ ...base, state: isNeeded ? 'done' : 'stopped', result: arrival?.done ?? null })
    }
    const outcome = begun.length === 0 ? 'done' : stateOf(counts)
    const failure = failureOf({ ...counts, state: outcome, cause }, step.id)
    if (failure) return { failure, meant: true }
    const { output, delta } = type.join({ config, stepId: step.id, branches: joined })
    const grown = withDelta(state, inStoredOrder(toStorableJson(delta)), state.ref, at)
    return { config, outputData: storableOutput(output) as JsonObject, delta, grown, exit: 'done' }
  }
}

type Computed = Extract<Entered, { outputData: JsonObject }>

/** The outcome of a visit; `meant` for a failure that the simulation chose. */
export type Done =
  | { failure: Failure & { stepId?: string; outcome?: 'failed' | 'timed_out' }; meant?: boolean }
  | { fails: Failure }
  | Extract<Arrival, { ends: object }>
  | (Computed & { next?: string | null })
