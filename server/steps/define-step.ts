import { z } from 'zod'
import type { TurnAttempt } from '../agents/journal/attempt'
import type { ServiceContext } from '../context'
import type { StepUsage } from '../definition/agent'
import type { EventRules } from '../definition/event'
import type { ExitSpec } from '../definition/exits'
import { cutText, type JsonLike, type JsonObject, type JsonValue, own } from '../definition/json'
import type { AsksRemark, LoggedLine, PauseAnswer, PauseSignal, RunError } from '../definition/run'
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
  /** In a run: the attempt, for the turn of an agent. */
  attempt?: TurnAttempt
  data: JsonObject
  /** Of a step with `fillsIn`: the values that those fields refer to, under the same paths. */
  values?: JsonObject
  /** Fires when the step times out or the run is cancelled or terminated. */
  signal: AbortSignal
  /** The same for every attempt of this visit. */
  idempotencyKey: string
  /** Stores a line that a script wrote to its console with the attempt. */
  log?: (line: LoggedLine) => void
  /** Registers a function that returns the attempt's usage so far, for the case that it times out. */
  uses?: (soFar: () => StepUsage | null) => void
  /** The value from `recall`, if the statement that recorded the step as begun confirmed it. */
  known?: unknown
  /** The step is not recorded as begun, so it must throw rather than reach anything outside. */
  inline?: boolean
}

/** Cached facts about a tool. */
export interface Recalled {
  toolId: string
  /** As `toolStamp` returns it. */
  stamp: string
  value: unknown
}

/**
 * What a step adds to the run: an object is merged by field; any other value is stored under `saveAs` or the step's id.
 */
export interface StepOutput {
  output: JsonValue
  /** The fields that go into run data, if they differ from the output. */
  delta?: JsonObject
  /** The exit to take; `next` unless the step branches. */
  exit?: string
  /** An agent's usage: tokens, model and thread. Stored with the step's record. */
  usage?: StepUsage
}

/** The end of a part of a visit, whose work continues later: as soon as possible, or when people have answered. */
export type PartEnd = ({ part: 'time' } | { part: 'asks'; questions: Question[] }) & {
  /** What this part has used. */
  usage?: StepUsage | undefined
}

/** A question of a step that is at work. A later part may ask it again: it stays as it was asked first. */
export interface Question {
  /** Unique in the visit. */
  id: string
  signal: PauseSignal
  /** When it is answered with `due`. */
  expiresAt: Date | null
}

/** The inputs that determine the type of a step's result. */
export interface TypeCall<C> {
  config: C
  stepId: string
  /** The type of a value once its `${…}` are filled in, and of an expression's value. */
  template: (value: JsonLike) => ValueType
  expression: (text: string) => ValueType
  /** The same at the ends of a fork's branches. */
  collected: (value: JsonLike) => ValueType
}

/** Missing parts are as `defines` and `gives` declare. */
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
  /** The `inputData` that history shows; the whole configuration by default. */
  inputData?: (config: C) => JsonObject
  /**
   * Fields the step is known to add to run data; `open` when it may also add others. `output` is the value of its id in
   * `${…}`, if known.
   */
  defines?: (
    config: C & Pick<CommonConfig, 'saveAs'>,
    stepId: string,
  ) => { fields: Record<string, DefinedField>; open: boolean; output?: DefinedField }
  /** The types of these fields, if they depend on the values that the configuration refers to. */
  types?: (call: TypeCall<C & Pick<CommonConfig, 'saveAs'>>) => StepTypes
  /** The types that some fields must have once their `${…}` are filled in, in addition to the schema of `config`. */
  takes?: { [K in keyof C & string]?: FieldType }
  /** The data of the body that an exit opens. */
  gives?: Record<string, Record<string, DefinedField>>
  /** The fields of run data that it reads without a reference to them, by its configuration as written. */
  reads?: (written: JsonObject) => string[]
  /** Other resources the configuration refers to, checked at publish. */
  uses?: (config: C) => Use[]
  /** Names besides run data that a field's expression can refer to: it is evaluated once they have values. */
  supplies?: Record<string, Record<string, DefinedField>>
  /** Problems the schema cannot express. */
  check?: (config: C) => { field: string; message: string }[]
  /** Parts of a configuration that runs, but hardly as meant. */
  doubts?: (config: C) => { field: string; message: string }[]
}

/**
 * `effect` works outside the database and is retried; `pause` waits for a person; `pure` only computes; `end` ends the
 * run, and `fail` ends it as failed; `fork` runs branches, each of them the path from one of its exits.
 */
export type StepDefinition<C> =
  | (Common<C> & {
      mode: 'effect'
      run: (call: EffectCall<C>) => Promise<StepOutput | PartEnd>
      /** Whether its visits have parts. Attempts that got further then do not count against the limit. */
      inParts?: true
      /**
       * The tool of the step, as this process has read it before. The statement that records the step as begun checks
       * whether the tool is unchanged; only then the first attempt gets it, as `known`. Otherwise the attempt reads it.
       * It must be plain data: Next and the engine have a copy of each module, and the step may run in the other one.
       */
      recall?: (config: C, tenantId: string) => Recalled | null
      /**
       * Whether it probably only computes, quickly, and so may run inline: it runs before it is recorded as begun, and
       * is recorded with the previous step. If that commit is lost, it runs again.
       */
      runsInline?: (config: C, tenantId: string) => boolean
      /**
       * Whether it reaches nothing outside and depends on its configuration and data alone, so a replay may compute it.
       * @param isScript whether this version of a tool is a script that only computes
       */
      computes?: (config: C, isScript: (toolId: string, version: string | number) => boolean) => boolean
      /**
       * Fields whose `${…}` the step fills in itself: they may name secrets, whose values must not be stored with its
       * configuration.
       */
      fillsIn?: readonly (keyof C & string)[]
      /** The secrets it sends, and to which hosts, as far as known before it runs. */
      sends?: (config: C) => SecretUse | null
    })
  | (Common<C> & {
      mode: 'pause'
      /** An output if there is nothing to wait for. `now` is when the step began. */
      ask: (place: {
        stepId: string
        config: C
        data: JsonObject
        now: Date
        /** Of a step with `supplies`: the values that its expressions refer to, if they exist. */
        values?: JsonObject
      }) => Asked | { output: JsonObject }
      /** The answers it accepts from people, from its configuration before a run. Absent if it asks nobody. */
      answers?: (config: C) => PauseForm
      /** Its answer is the end of a run, whose id its configuration has as `$runId`. */
      startsRun?: true
      /** It only waits for its time to pass, which is its answer. Any other step takes `timeout` then. */
      elapses?: boolean
      /** The error message when it expires. */
      late?: string
      /** @throws StepFailure if the answer fails the step */
      answer: (place: { stepId: string; config: C & CommonConfig; answer: PauseAnswer }) => {
        output: JsonObject
        delta: JsonObject
        /** Taken if an edge leaves by it; otherwise `next` is taken. */
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
      /** Whether `join` takes the fields that the branches wrote. */
      merges?: boolean
      /** The data that the run gets once enough branches are done. */
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

/** Branches to run, in order, and the condition that completes a fork. */
export interface Forking {
  branches: { key: string; exit: string; data: JsonObject }[]
  /** How many run concurrently. */
  concurrency: number
  /** How many must succeed; null if it suffices that all have ended. */
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
  /** The fields that the branch wrote, if the fork merges. */
  data: JsonObject
}

/** What a step waits for: an answer to its question, an event, the end of a run, or a time; the first one counts. */
export interface Asked {
  /** Null if it asks no person. */
  signal: PauseSignal | null
  /** The event that is the answer. A null key matches any. */
  event?: { name: string; key: string | null; rules: EventRules }
  /** The id of the run to start, whose end is the answer. */
  childRunId?: string
  dueAt?: Date
  /** When people are reminded first. */
  remindAt?: Date
}

/** The answers that a pause takes. Fields and ids may still contain `${…}`. */
export type PauseForm =
  | { type: 'collect_inputs'; fields: Fields }
  | { type: 'request_user_action'; actions: readonly { id: string; fields?: Fields }[]; remark?: AsksRemark }

/** How the editor draws a step: a hint for every field of its configuration, and the configuration of a new step. */
export interface StepForm<S extends z.ZodType> {
  form: { [K in keyof z.output<S> & string]-?: FieldHint<keyof z.output<S> & string> }
  sample: z.input<S>
}

/**
 * A step type without the type of its configuration, as the registry returns it. Pass its functions only values that
 * its own `config` schema parsed.
 */
export type AnyStep = StepDefinition<StepConfig> & { form: Record<string, FieldHint>; sample: JsonObject }

/** Whether an expression in a field of the step can use a name that is not in run data. */
export function suppliedIn(type: Pick<AnyStep, 'supplies'> | undefined, field: string, name: string): boolean {
  return own(own(type?.supplies ?? {}, field) ?? {}, name) !== undefined
}

export function defineStep<S extends z.ZodType>(
  step: { config: S } & StepForm<S> & StepDefinition<z.output<S>>,
): { config: S } & StepForm<S> & StepDefinition<z.output<S>> {
  return step
}
