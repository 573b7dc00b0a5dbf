import type { JsonObject, JsonValue } from '../../definition/json'
import type { Arrival, PauseAnswer } from '../../definition/run'
import type { Step } from '../../definition/schema'
import type { StepConfig } from '../../definition/step-config'
import type { Entered, Entry, Position } from '../../interpreter/flow/index'
import type { AnyStep, Asked, Forking } from '../../steps/define-step'

export type Failure = { code: string; message: string }

/** The outputs of the steps that a walk has visited, by step. */
export type Outputs = Record<string, JsonValue>

/** What came of a step that does work or asks. */
export type Came = Given | { answer: PauseAnswer } | { failed: Failure }

/** What a step gives. `isUnknown` if its output is an unknown value, which later steps refer to as a whole. */
interface Given {
  output: JsonValue
  /** The fields that it sets without `saveAs`, if they differ from the output. */
  delta?: JsonObject
  isUnknown?: true
}

/** Work of a step that only computes, for at most this long. */
export type Compute = (mostMs: number) => Promise<Came>

/** Computes steps that only compute. */
export interface Computing {
  may(type: AnyStep, config: JsonObject): boolean
  run(entry: Entry<Position>, config: StepConfig, mostMs: number): Promise<Came>
}

/** A branch that a walk follows. */
export interface Begun {
  key: string
  exit: string
  data: JsonObject
  /**
   * What becomes of it once the fork needs no more branches: it is stopped unvisited; it is walked, and counts as stopped;
   * or it had ended too, and is joined.
   */
  beyond: 'stopped' | 'walked' | 'joined'
}

/** What a walk does not compute by itself: what steps do, what people answer, and which branches end first. */
export interface Source {
  /** Fields that are changed by hand before a visit. */
  edits?(entry: Entry<Position>): JsonObject | null
  /** How often a walk may visit a step, without its branches. */
  readonly mostVisits: number
  /** Fills in a step and computes it, as far as it only computes. */
  enter(entry: Entry<Position>, outputs: Outputs): Entered & { output?: JsonValue }
  /** What comes of an effect, a pause or a child run. An error that it throws fails the step, if steps fail so. */
  outcome(entry: Entry<Position>, config: StepConfig, asked: Asked | null): Came | { compute: Compute }
  /** The branches to follow, in the order in which they end. */
  branches(entry: Entry<Position>, forking: Forking): Begun[]
  /** The end of a branch whose path has ended. */
  collect(state: Position, outputs: Outputs): Arrival
}

/** Observes what a walk does. */
export interface Watcher {
  visit(entry: Entry<Position>): void
  leave(stepId: string, exit: string): void
  /** The fields that a visit has set. */
  gave?(entry: Entry<Position>, delta: JsonObject): void
  /** A step failed by itself, and not because its source says so. */
  fail(step: Step, failure: Failure, handled: boolean): void
}
