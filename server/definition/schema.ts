import './zod-words'
import { z } from 'zod'
import { AnyJson } from './any-json'
import { components } from './component'
import type { JsonObject } from './json'
import { StepId, StepRef } from './step-ref'

export const FIELD_TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'file', 'any'] as const
export type FieldType = (typeof FIELD_TYPES)[number]

type Known<T> = { [K in keyof T]: Exclude<T[K], undefined> }

/** An object that preserves unknown keys. Input is parsed JSON, so their values are JSON too, which zod cannot know. */
function openObject<S extends z.ZodRawShape>(shape: S) {
  return z.looseObject(shape) as z.ZodType<Known<z.output<z.ZodObject<S>>> & JsonObject>
}

/** A name in run data, which `${…}` can refer to. */
export const FieldName = z
  .string()
  .regex(/^[A-Za-z_][\w-]{0,99}$/, 'must start with a letter or _ and contain only letters, digits, _ and -')
  .refine((name) => !['_', '__proto__', 'prototype', 'constructor'].includes(name), 'is a reserved name')

const fieldShape = {
  type: z.enum(FIELD_TYPES).describe('The type of the value. `file` is the id of a stored file.'),
  label: AnyJson.optional().describe('The name that people see; the field’s own name by default.'),
  title: AnyJson.optional().describe('The same as `label`, which counts if both are given.'),
  description: z.string().max(2000).optional().describe('Text for people.'),
  required: z.boolean().optional().describe('True by default, unless the field has a default.'),
  default: AnyJson.optional().describe('Used when no value is sent.'),
  options: z.array(AnyJson).max(1000).optional().describe('The only values allowed.'),
  format: AnyJson.optional().describe(
    'Of a text: `date` (such as `2026-01-31`) and `email` are checked, and forms offer several lines for `long-text`.',
  ),
  minimum: AnyJson.optional().describe('Of a number: the least value allowed.'),
  maximum: AnyJson.optional().describe('Of a number: the greatest value allowed.'),
  items: AnyJson.optional().describe('Of an array: `{ "type": "file" }` makes it a list of files.'),
  sensitive: z
    .boolean()
    .optional()
    .describe('The value is hidden from people who are signed in, not from API keys and tokens.'),
}
/** The fields that a declared field may have, without those that callers add to it. */
export type DeclaredField = Known<z.output<z.ZodObject<typeof fieldShape>>>
export const Field = openObject(fieldShape).register(components, { id: 'Field' })
export type Field = z.infer<typeof Field>

export const Fields = z.record(FieldName, Field)
export type Fields = z.infer<typeof Fields>

/** A step as saved. A draft may have any configuration; publish checks it against the schema of the step's type. */
export const Step = openObject({
  id: StepId,
  type: z
    .string()
    .min(1)
    .max(100)
    .describe('Such as `call-tool`. Each type has its own fields: see the schemas whose names end in `Step`.'),
}).register(components, { id: 'Step' })
export type Step = z.infer<typeof Step>

/** `on` is the exit of its step that the edge leaves by; `next` if absent. */
export const Edge = openObject({
  from: StepRef.min(1).describe('The id of a step.'),
  to: StepRef.min(1).describe('The id of the next step.'),
  on: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('The exit of the step that leads there, such as `error`; `next` by default.'),
}).register(components, { id: 'Edge' })
export type Edge = z.infer<typeof Edge>

/** The contents of a version of a workflow. */
export type Definition = {
  name: string
  description: string
  initialStep: string | null
  steps: Step[]
  edges: Edge[]
  payload: Fields
  /** The first step of the cleanup path, which runs after a cancel. */
  onCancel?: string
  /** The first step of the failure path, which runs before a run ends as failed. */
  onFailure?: string
  /** The template by which people recognise a run, such as `${orderId}`. */
  businessKey?: string
  limits?: RunLimits
}

export type RunLimits = {
  /** How long a run may take from its start, including all waits. In milliseconds. */
  timeoutMs?: number
  /** What all agents of a run may use together. */
  agents?: AgentTotals
}

/** Tokens and US dollars; at least one of them. */
export type AgentTotals = { tokens?: number; cost?: number }

export const MAX_NAME = 200
export const MAX_KEY_TEMPLATE = 500
