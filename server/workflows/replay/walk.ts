import { branchOf, scopeIdOf } from '../../definition/branches'
import { graphOf } from '../../definition/graph'
import { inStoredOrder, type JsonObject, type JsonValue, own, toStorableJson } from '../../definition/json'
import type { Arrival, PauseAnswer, RunError } from '../../definition/run'
import type { Definition } from '../../definition/schema'
import type { StepConfig } from '../../definition/step-config'
import { ImpossibleState, StepFailure } from '../../errors'
import type { Entered, Entry, Position } from '../../interpreter/flow/index'
import {
  afterCatch,
  catching,
  exitOfAnswer,
  failureAtEntry,
  failureOf,
  failurePath,
  fork,
  stateOf,
  storableOutput,
  TIMED_OUT,
  withDelta,
  yielded,
} from '../../interpreter/flow/index'
import type { Forking, Joined } from '../../steps/define-step'
import { findStepType } from '../../steps/registry'
import type { Begun, Came, Compute, Failure, Outputs, Source, Watcher } from './source'

/** How a walk ended: a branch arrives; the run's own walk ends the run, with `arrival` null if its path just ended. */
export interface Ended {
  state: Position
  arrival: Arrival | null
}

/** Yields before each visit, and work to compute, whose outcome it is given back. */
export type Walk = Walking<Ended>
type Walking<T> = Generator<Compute | undefined, T, Came | undefined>

/** A walk that visited one step too often. */
export class Cut extends Error {
  override name = 'Cut'
}

/** Where a walk continues. */
type Onward = { state: Position; target: string | null }
type Computed = Extract<Entered, { outputData: JsonObject }>
/** The outcome of a visit; `meant` for a failure that the source chose. */
type Done =
  | { failure: Failure & { stepId?: string; outcome?: 'failed' | 'timed_out' }; meant?: boolean }
  | { fails: Failure }
  | Extract<Arrival, { ends: object }>
  | (Computed & { next?: string | null; output?: JsonValue })

/**
 * Walks a path like the interpreter, with the same parts: computing a step, its exits, the continuation after a failure
 * or an answer, and the end of branches. Only effects, people and the order of branches are the source's. Executes
 * nothing.
 */
export class Walker {
  constructor(
    private readonly definition: Definition,
    private readonly source: Source,
    private readonly now: Date,
    private readonly watcher: Watcher | null = null,
  ) {}

  *walk(from: Position, start: string | null, known: Outputs = {}): Walk {
    const visits: Record<string, number> = {}
    const outputs = { ...known }
    let { state, target }: Onward = { state: from, target: start }
    while (target !== null) {
      yield undefined
      const entry = this.edited(this.entryAt(state, target, visits))
      const next: Onward | Ended = yield* this.visit(entry, outputs)
      if ('arrival' in next) return next
      ;({ state, target } = next)
    }
    return { state, arrival: state.own === null ? null : this.source.collect(state, outputs) }
  }

  private entryAt(state: Position, stepId: string, visits: Record<string, number>): Entry<Position> {
    const step = graphOf(this.definition).step(stepId)
    const type = step && findStepType(step.type)
    if (!step || !type) throw new Error(`No step ${stepId}`)
    const visit = (own(visits, stepId) ?? 0) + 1
    visits[stepId] = visit
    if (visit > this.source.mostVisits) throw new Cut()
    return { state, step, type, at: { stepId, visit }, now: this.now }
  }

  private edited(entry: Entry<Position>): Entry<Position> {
    const edits = this.source.edits?.(entry)
    if (!edits) return entry
    return { ...entry, state: { ...entry.state, ...withDelta(entry.state, edits, entry.state.ref, entry.at) } }
  }

  private *visit(entry: Entry<Position>, outputs: Outputs): Walking<Onward | Ended> {
    const { state, step } = entry
    this.watcher?.visit(entry)
    const entered = this.source.enter(entry, outputs)
    const done: Done = 'begins' in entered ? yield* this.perform(entry, entered, outputs) : entered
    if ('fails' in done) return this.failing(entry, { ...done.fails, stepId: step.id })
    if ('failure' in done) return this.failed(entry, done)
    if ('ends' in done) {
      if (done.ends.status === 'completed') return { state, arrival: done }
      return this.failing(entry, done.ends.error)
    }
    outputs[step.id] = done.output ?? done.outputData
    this.watcher?.gave?.(entry, done.delta)
    const grown = { ...state, ...done.grown }
    if (done.result !== undefined)
      return { state: grown, arrival: { ends: { status: 'completed', result: done.result, stepId: step.id } } }
    this.watcher?.leave(step.id, done.exit)
    const target = done.next === undefined ? graphOf(this.definition).target(step.id, done.exit) : done.next
    return { state: grown, target }
  }

  /** A step ends the run as failed: only the failure path may follow. */
  private failing(entry: Entry<Position>, error: RunError): Onward | Ended {
    const { state, step, at } = entry
    const onward = failurePath(state, at, { ...error, stepId: error.stepId ?? step.id })
    if (onward) return this.caught(entry, onward)
    return { state, arrival: { ends: { status: 'failed', error } } }
  }

  private failed(entry: Entry<Position>, { failure, meant }: Extract<Done, { failure: object }>): Onward | Ended {
    const { state, step, at } = entry
    const caught = catching(state, at, failure)
    if (!meant) this.watcher?.fail(step, failure, caught?.columns.handled === true)
    if (!caught) {
      const error = { stepId: step.id, ...failure }
      const outcome = error.code === TIMED_OUT ? ('timed_out' as const) : ('failed' as const)
      return { state, arrival: { failed: error, outcome } }
    }
    if (caught.columns.exit !== null) this.watcher?.leave(step.id, caught.columns.exit)
    return this.caught(entry, caught)
  }

  private caught(entry: Entry<Position>, caught: NonNullable<ReturnType<typeof catching>>): Onward {
    this.watcher?.gave?.(entry, caught.columns.delta)
    return { state: afterCatch(entry.state, caught), target: caught.target }
  }

  private *perform(
    entry: Entry<Position>,
    { begins: config, asked }: Extract<Entered, { begins: StepConfig }>,
    outputs: Outputs,
  ): Walking<Done> {
    try {
      if (entry.type.mode === 'fork') return yield* this.branches(entry, config, outputs)
      const found = this.source.outcome(entry, config, asked)
      const came = 'compute' in found ? yield* computed(found.compute) : found
      if ('failed' in came) return { failure: came.failed, meant: true }
      if ('answer' in came) return this.resumed(entry, config, came.answer)
      const done = yielded(entry, config, came) as Computed
      return came.isUnknown ? { ...done, output: came.output } : done
    } catch (err) {
      return { failure: failureAtEntry(err) }
    }
  }

  /** The continuation after an answer, as in a run. */
  private resumed({ state, step, type, at }: Entry<Position>, config: StepConfig, answer: PauseAnswer): Done {
    if (type.mode !== 'pause') throw new StepFailure('INVALID_CONFIG', `${step.id} asks nothing`)
    const { output, delta, exit } = type.answer({ stepId: step.id, config, answer })
    const { next } = exitOfAnswer(this.definition, type, step.id, exit)
    const grown = withDelta(state, inStoredOrder(toStorableJson(delta)), state.ref, at)
    return { config, outputData: output, delta, grown, exit: exit ?? 'next', next }
  }

  /** Follows branches one by one, and counts them as a run does, until the fork needs no more. */
  private *branches(entry: Entry<Position>, config: StepConfig, outputs: Outputs): Walking<Done> {
    const { state, step, type, at } = entry
    if (type.mode !== 'fork') throw new StepFailure('INVALID_CONFIG', `${step.id} runs no branches`)
    const forking = fork(type, config, state.ref)
    const begun = this.source.branches(entry, forking)
    const tally = new Tally(forking, begun)
    for (const branch of begun) {
      if (tally.isOver || (branch.beyond === 'stopped' && !tally.isOpen)) continue
      this.watcher?.leave(step.id, branch.exit)
      const ended = yield* this.branch(entry, branch, outputs)
      if (ended.arrival && 'ends' in ended.arrival) return ended.arrival
      tally.count(branch, ended.arrival, ended.state.own?.data ?? {})
    }
    const failure = tally.failure(step.id)
    if (failure) return { failure, meant: true }
    const { output, delta } = type.join({ config, stepId: step.id, branches: tally.joined() })
    const grown = withDelta(state, inStoredOrder(toStorableJson(delta)), state.ref, at)
    return { config, outputData: storableOutput(output) as JsonObject, delta, grown, exit: 'done' }
  }

  private branch({ state, step, at }: Entry<Position>, { key, exit, data }: Begun, outputs: Outputs): Walk {
    const branch = branchOf(scopeIdOf(state.ref.branch, at), key)
    const inside = {
      ...state,
      ref: { ...state.ref, branch },
      own: { data, refs: {} },
      data: { ...state.data, ...data },
    }
    return this.walk(inside, graphOf(this.definition).target(step.id, exit), outputs)
  }
}

function* computed(compute: Compute): Walking<Came> {
  const came = yield compute
  if (!came) throw new ImpossibleState('walk-without-outcome', 'a walk continued before its work was done')
  return came
}

/** The branches of a fork that have ended. */
class Tally {
  private readonly counts
  private readonly ended = new Map<string, Joined>()
  private readonly order: string[]
  private cause: Extract<Arrival, { failed: object }> | null = null

  constructor(
    { need, stopOnError, branches }: Forking,
    private readonly begun: readonly Begun[],
  ) {
    const total = begun.length
    this.counts = { total, need: need === branches.length ? total : need, stopOnError, succeeded: 0, failed: 0 }
    this.order = branches.map(({ key }) => key)
  }

  get isOpen(): boolean {
    return stateOf(this.counts) === 'open'
  }

  /** The fork fails, so no branch is joined. */
  get isOver(): boolean {
    return stateOf(this.counts) === 'failed'
  }

  count({ key, beyond }: Begun, arrival: Exclude<Arrival, { ends: object }> | null, data: JsonObject): void {
    const { counts } = this
    const isCounted = this.isOpen || beyond === 'walked'
    const base = { key, result: null, error: null, data }
    if (arrival && 'failed' in arrival) {
      this.ended.set(key, { ...base, state: 'failed', error: arrival.failed })
      if (!isCounted) return
      this.cause ??= arrival
      counts.failed++
      return
    }
    const isNeeded = isCounted && (counts.need === null || counts.succeeded < counts.need)
    if (isNeeded) counts.succeeded++
    const state = isNeeded || beyond === 'joined' ? 'done' : 'stopped'
    this.ended.set(key, { ...base, state, result: arrival?.done ?? null })
  }

  failure(stepId: string) {
    return failureOf({ ...this.counts, state: stateOf(this.counts), cause: this.cause }, stepId)
  }

  /** All of them, in their order. */
  joined(): Joined[] {
    const begun = new Set(this.begun.map(({ key }) => key))
    return this.order
      .filter((key) => begun.has(key))
      .map((key) => this.ended.get(key) ?? { key, state: 'stopped', result: null, error: null, data: {} })
  }
}
