import { z } from 'zod'
import type { ServiceContext } from '../context'
import type { JsonObject, JsonValue } from '../definition/json'
import type { FieldType } from '../definition/schema'
import type { DefinedField, FieldHint, StepGroup } from './form'

/** The most attempts a step's retry policy may ask for. */
export const MOST_ATTEMPTS = 20
/** How long one attempt may take unless its step says otherwise. */
export const DEFAULT_TIMEOUT_MS = 5 * 60_000

/** What every step may say besides its own configuration. Durations in milliseconds. */
export const CommonConfig = z.object({
  name: z.string().max(200).optional(),
  description: z.string().max(10_000).optional(),
  position: z.object({ x: z.number(), y: z.number() }).optional(),
  saveAs: z
    .string()
    .regex(/^[A-Za-z_][\w-]{0,99}$/, 'must be a field name')
    .refine((name) => !['_', '__proto__', 'prototype', 'constructor'].includes(name), 'is a reserved name')
    .optional(),
  timeoutMs: z.number().int().min(1).max(86_400_000).optional(),
  retry: z
    .object({
      maxAttempts: z.number().int().min(1).max(MOST_ATTEMPTS).optional(),
      initialDelayMs: z.number().int().min(0).max(86_400_000).optional(),
      maxDelayMs: z.number().int().min(0).max(86_400_000).optional(),
      backoff: z.enum(['fixed', 'exponential']).optional(),
    })
    .optional(),
})
export type CommonConfig = z.infer<typeof CommonConfig>
export type RetryPolicy = NonNullable<CommonConfig['retry']>

/** Text for people: a template that resolves to something else is shown as text. */
export const Text = (max: number) =>
  z
    .union([z.string(), z.number(), z.boolean(), z.null()])
    .transform((value) => (value === null ? '' : String(value).slice(0, max)))

/** What a pause shows and asks; `pauseSignal` in the API. */
export type PauseSignal =
  | {
      type: 'collect_inputs'
      stepId: string
      fields: Record<string, { type: FieldType } & JsonObject>
      title?: string
      message?: string
    }
  | {
      type: 'request_user_action'
      stepId: string
      actions: { id: string; label: string }[]
      title?: string
      message?: string
    }

export type PauseAnswer = { data: JsonObject } | { actionId: string; actionValue: string }

export interface EffectCall<C> {
  config: C
  /** The run's tenant; acts as the run. */
  ctx: ServiceContext
  data: JsonObject
  /** Fires when the step's time is up or the run is cancelled or terminated. */
  signal: AbortSignal
  /** The same for every attempt of this visit. */
  idempotencyKey: string
}

/** What a step adds to the run: an object is merged by field name, anything else needs a name (`saveAs`, else the step's id). */
export interface StepOutput {
  output: JsonValue
  /** Which way out is taken; `next` unless the step branches. */
  exit?: string
  /** What an agent's answer took: tokens, model and thread. Kept with the step's record. */
  usage?: JsonObject
}

interface Common<C> {
  type: string
  title: string
  /** One sentence for whoever chooses a step in the editor. */
  description: string
  /** A lucide icon's name. */
  icon: string
  group: StepGroup
  config: z.ZodType<C>
  /** Ways out besides `error`. An empty list ends the walk. */
  exits: readonly string[]
  /** What history shows as `inputData`; the whole configuration unless given. */
  inputData?: (config: C) => JsonObject
  /**
   * Fields the step is known to put into run data; `open` when it may put others too. `output` is what its id
   * stands for in `${…}`, where that is known.
   */
  defines?: (
    config: C & CommonConfig,
    stepId: string,
  ) => { fields: Record<string, DefinedField>; open: boolean; output?: DefinedField }
  /** Other resources the configuration names, checked at publish. */
  uses?: (
    config: C,
  ) => { kind: 'tool' | 'agent'; id: string; version?: string | number | undefined; args?: JsonObject | undefined }[]
  /** Problems the schema cannot say. */
  check?: (config: C) => { field: string; message: string }[]
}

/** `effect` does work outside the database and is retried; `pause` waits for a person; `pure` computes; `end` ends the run. */
export type StepDefinition<C> =
  | (Common<C> & { mode: 'effect'; run: (call: EffectCall<C>) => Promise<StepOutput> })
  | (Common<C> & {
      mode: 'pause'
      /** Null when there is nothing to ask. */
      ask: (place: { stepId: string; config: C; data: JsonObject }) => { signal: PauseSignal } | { output: JsonObject }
      answer: (place: { stepId: string; config: C & CommonConfig; answer: PauseAnswer }) => {
        output: JsonObject
        delta: JsonObject
      }
    })
  | (Common<C> & { mode: 'pure'; compute: (call: { config: C; data: JsonObject }) => StepOutput })
  | (Common<C> & { mode: 'end'; result: (call: { config: C; data: JsonObject }) => JsonValue })

/** How the editor draws a step: a hint for every field of its configuration, and what a new step begins with. */
export interface StepForm<S extends z.ZodType> {
  form: { [K in keyof z.output<S> & string]-?: FieldHint<keyof z.output<S> & string> }
  sample: z.input<S>
}

export type AnyStep = StepDefinition<never> & { form: Record<string, FieldHint>; sample: unknown }

export function defineStep<S extends z.ZodType>(
  step: { config: S } & StepForm<S> & StepDefinition<z.output<S>>,
): { config: S } & StepForm<S> & StepDefinition<z.output<S>> {
  return step
}
