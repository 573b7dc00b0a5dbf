import { z } from 'zod'
import type { ServiceContext } from '../context'
import type { StepUsage } from '../definition/agent'
import type { EventRules } from '../definition/event'
import type { ExitSpec } from '../definition/exits'
import { cutText, type JsonLike, type JsonObject, type JsonValue, own } from '../definition/json'
import type { LoggedLine, PauseAnswer, PauseSignal, RunError } from '../definition/run'
import type { Fields, FieldType } from '../definition/schema'
import type { CommonConfig, StepConfig } from '../definition/step-config'
import type { Property, ValueType } from '../definition/types/type'
import type { SecretUse } from '../vault/misplaced'
import type { DefinedField, FieldHint, StepGroup } from './form'

/** How long an attempt may take unless its step sets a limit. */
export const DEFAULT_TIMEOUT_MS = 5 * 60_000

/** Text for people. If a template resolves to another type, it is shown as text. */
export const Text = (max: number) =>
  z
    .union([z.string(), z.number(), z.boolean(), z.null()])
    .transform((value) => (value === null ? '' : cutText(String(value), max)))

export interface EffectCall<C> {
  config: C & CommonConfig
  /** The run's tenant, with the run as the caller. */
  ctx: ServiceContext
  /** That run. */
  runId?: string
  data: JsonObject
  /** Of a step with `fillsIn`: what those fields refer to, under the same paths. */
  values?: JsonObject
  /** Fires when the step's time is up or the run is cancelled or terminated. */
  signal: AbortSignal
  /** The same for every attempt of this visit. */
  idempotencyKey: string
  /** Keeps a line that a script wrote to its console with the attempt. */
  log?: (line: LoggedLine) => void
  /** Takes what says how much the attempt has used so far, for the case that its time is up. */
  uses?: (soFar: () => StepUsage | null) => void
  /** What `recall` gave, if the statement that recorded the step as begun says that it is still so. */
  known?: unknown
  /** It is not recorded as begun, so it must throw rather than reach anything outside. */
  inline?: boolean
}

/** What is known of a tool. */
export interface Recalled {
  toolId: string
  /** As `toolStamp` makes it. */
  stamp: string
  value: unknown
}

/**
 * What a step adds to the run: an object is merged by field; any other value is stored under `saveAs` or the step's id.
 */
export interface StepOutput {
  output: JsonValue
  /** What goes into run data, where that is not the output. */
  delta?: JsonObject
  /** The exit to take; `next` unless the step branches. */
  exit?: string
  /** What an agent used: tokens, model and thread. Stored with the step's record. */
  usage?: StepUsage
}

/** What the type of a step's result follows from. */
export interface TypeCall<C> {
  config: C
  stepId: string
  /** The type of a value once its `${…}` are filled in, and of an expression's value. */
  template: (value: JsonLike) => ValueType
  expression: (text: string) => ValueType
  /** The same where the branches of a fork end. */
  collected: (value: JsonLike) => ValueType
}

/** What is left out is as `defines` and `gives` say. */
export interface StepTypes {
  fields?: ReadonlyMap<string, Property>
  output?: ValueType
  /** By exit. */
  gives?: Record<string, Record<string, ValueType>>
}

/** A resource that a step uses. */
export interface Use {
  kind: 'tool' | 'agent' | 'workflow'
  id: string
  version?: string | number | undefined
  args?: JsonObject | undefined
}

interface Common<C> {
  type: string
  title: string
  /** One sentence for people choosing a step in the editor. */
  description: string
  /** A lucide icon's name. */
  icon: string
  group: StepGroup
  config: z.ZodType<C>
  /** The exits. An empty list ends the run. */
  exits: ExitSpec
  /** What history shows as `inputData`; the whole configuration by default. */
  inputData?: (config: C) => JsonObject
  /**
   * Fields the step is known to add to run data; `open` when it may add others too. `output` is the value of its id in
   * `${…}`, if that is known.
   */
  defines?: (
    config: C & Pick<CommonConfig, 'saveAs'>,
    stepId: string,
  ) => { fields: Record<string, DefinedField>; open: boolean; output?: DefinedField }
  /** The types of what it adds, where they depend on what its configuration refers to. */
  types?: (call: TypeCall<C & Pick<CommonConfig, 'saveAs'>>) => StepTypes
  /** The types that some fields must have once their `${…}` are filled in, in addition to the schema of `config`. */
  takes?: { [K in keyof C & string]?: FieldType }
  /** What an exit that opens a body puts into the data of that body. */
  gives?: Record<string, Record<string, DefinedField>>
  /** Other resources the configuration refers to, checked at publish. */
  uses?: (config: C) => Use[]
  /** What the expression in a field can refer to besides run data: it is evaluated when that is there. */
  supplies?: Record<string, Record<string, DefinedField>>
  /** Problems the schema cannot express. */
  check?: (config: C) => { field: string; message: string }[]
}

/**
 * `effect` works outside the database and is retried; `pause` waits for a person; `pure` only computes; `end` ends the
 * run, and `fail` ends it as failed; `fork` runs branches, each of them the path from one of its exits.
 */
export type StepDefinition<C> =
  | (Common<C> & {
      mode: 'effect'
      run: (call: EffectCall<C>) => Promise<StepOutput>
      /**
       * The tool of the step, as this process has read it before. The statement that records the step as begun tells whether
       * the tool is still the same; only then the first attempt gets it, as `known`. Otherwise the attempt reads it. It must
       * be plain data: Next and the engine have a copy of each module, and the step may run in the other one.
       */
      recall?: (config: C, tenantId: string) => Recalled | null
      /**
       * Whether it probably only computes, quickly, and so may run inline: it runs before it is recorded as begun, and is
       * recorded with the step before it. If that commit is lost, it runs again.
       */
      runsInline?: (config: C, tenantId: string) => boolean
      /**
       * Fields whose `${…}` the step fills in itself, because they may name secrets, whose values must not be stored with
       * its configuration.
       */
      fillsIn?: readonly (keyof C & string)[]
      /** The secrets it sends, and where, as far as that is known before it runs. */
      sends?: (config: C) => SecretUse | null
    })
  | (Common<C> & {
      mode: 'pause'
      /** An output when there is nothing to wait for. `now` is when the step began. */
      ask: (place: {
        stepId: string
        config: C
        data: JsonObject
        now: Date
        /** Of a step with `supplies`: what its expressions refer to, as far as it has a value. */
        values?: JsonObject
      }) => Asked | { output: JsonObject }
      /** What people may answer, as its configuration says before a run. Absent if it asks nobody. */
      answers?: (config: C) => PauseForm
      /** Its answer is the end of a run, whose id its configuration has as `$runId`. */
      startsRun?: true
      /** It only waits for its time, so that this passing is its answer. Any other step takes `timeout` then. */
      elapses?: boolean
      /** The error message when time is up. */
      late?: string
      /** @throws StepFailure if the answer fails the step */
      answer: (place: { stepId: string; config: C & CommonConfig; answer: PauseAnswer }) => {
        output: JsonObject
        delta: JsonObject
        /** Taken if an edge leaves by it; otherwise `next` is. */
        exit?: string
      }
    })
  | (Common<C> & { mode: 'pure'; compute: (call: Computing<C>) => StepOutput })
  | (Common<C> & {
      mode: 'fork'
      /**
       * The branches of a visit.
       * @throws StepFailure
       */
      fork: (call: { config: C }) => Forking
      /** Whether `join` takes what the branches wrote. */
      merges?: boolean
      /** What the run gets once enough branches are done. */
      join: (call: { config: C & CommonConfig; stepId: string; branches: Joined[] }) => {
        output: JsonObject
        delta: JsonObject
      }
    })
  | (Common<C> & { mode: 'end'; result: (call: { config: C; data: JsonObject }) => JsonValue })
  | (Common<C> & { mode: 'fail'; failure: (call: { config: C }) => { code: string; message: string } })

interface Computing<C> {
  config: C
  data: JsonObject
  /**
   * The value of an expression's text.
   * @throws ExpressionFailure, UnresolvedReference
   */
  evaluate: (text: string) => JsonValue
}

/** Branches to run, in order, and when a fork is done with them. */
export interface Forking {
  branches: { key: string; exit: string; data: JsonObject }[]
  /** How many run at the same time. */
  concurrency: number
  /** How many must succeed; null if it is enough that all have ended. */
  need: number | null
  /** Whether the first failure fails the fork. */
  stopOnError: boolean
}

/** A branch when its fork is done. */
export interface Joined {
  key: string
  state: 'done' | 'failed' | 'stopped'
  /** The value of the fork's `result`. */
  result: JsonValue
  error: RunError | null
  /** What the branch wrote, if the fork merges. */
  data: JsonObject
}

/** What a step waits for: an answer to its question, an event, the end of a run, a time, or whichever comes first. */
export interface Asked {
  /** Null when no person is asked. */
  signal: PauseSignal | null
  /** The event that is the answer. Null as key: any. */
  event?: { name: string; key: string | null; rules: EventRules }
  /** The id of the run to start, whose end is the answer. */
  childRunId?: string
  dueAt?: Date
}

/** The answers that a pause takes. Fields and ids may still contain `${…}`. */
export type PauseForm =
  | { type: 'collect_inputs'; fields: Fields }
  | { type: 'request_user_action'; actionIds: readonly string[] }

/** How the editor draws a step: a hint for every field of its configuration, and the configuration of a new step. */
export interface StepForm<S extends z.ZodType> {
  form: { [K in keyof z.output<S> & string]-?: FieldHint<keyof z.output<S> & string> }
  sample: z.input<S>
}

/**
 * A step type without the type of its configuration, as the registry returns it. Call its functions only with what its
 * own `config` schema parsed.
 */
export type AnyStep = StepDefinition<StepConfig> & { form: Record<string, FieldHint>; sample: JsonObject }

/** Whether an expression in a field of the step finds a name that is not in run data. */
export function suppliedIn(type: Pick<AnyStep, 'supplies'> | undefined, field: string, name: string): boolean {
  return own(own(type?.supplies ?? {}, field) ?? {}, name) !== undefined
}

export function defineStep<S extends z.ZodType>(
  step: { config: S } & StepForm<S> & StepDefinition<z.output<S>>,
): { config: S } & StepForm<S> & StepDefinition<z.output<S>> {
  return step
}
