import { z } from 'zod'
import { type JsonObject, unstorable } from '../definition/json'

export const FIELD_TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'file', 'any'] as const
export type FieldType = (typeof FIELD_TYPES)[number]

/** A name in run data: what `${…}` can reach. */
export const FieldName = z
  .string()
  .regex(/^[A-Za-z_][\w-]{0,99}$/, 'must begin with a letter or _ and have only letters, digits, _ and -')
  .refine((name) => !['_', '__proto__', 'prototype', 'constructor'].includes(name), 'is a reserved name')

export const Field = z.looseObject({
  type: z.enum(FIELD_TYPES),
  description: z.string().max(2000).optional(),
  required: z.boolean().optional(),
  default: z.json().optional(),
  options: z.array(z.json()).max(1000).optional(),
})
export type Field = z.infer<typeof Field>

export const Fields = z.record(FieldName, Field)
export type Fields = z.infer<typeof Fields>

const StepId = z
  .string()
  .regex(/^[A-Za-z_][\w-]{0,99}$/, 'must begin with a letter or _ and have only letters, digits, _ and -')

/** A step as saved: any configuration is legal in a draft; its type's own schema judges it at publish. */
export const Step = z.looseObject({ id: StepId, type: z.string().min(1).max(100) })
export type Step = { id: string; type: string } & JsonObject

export const Edge = z.looseObject({ from: z.string().min(1).max(100), to: z.string().min(1).max(100) })
export type Edge = { from: string; to: string } & JsonObject

/** What a version of a workflow says. */
export interface Definition {
  name: string
  description: string
  initialStep: string | null
  steps: Step[]
  edges: Edge[]
  payload: Fields
  onCancel?: string
}

export const MAX_NAME = 200

export const CreateWorkflow = z.object({
  name: z.string().trim().min(1).max(MAX_NAME),
  description: z.string().max(10_000).default(''),
  initialStep: z.string().max(100).nullish(),
  steps: z.array(Step).max(2000).default([]),
  edges: z.array(Edge).max(8000).default([]),
  payload: Fields.default({}),
  onCancel: z.string().max(100).nullish(),
})
export type CreateWorkflow = z.infer<typeof CreateWorkflow>

/** Every field optional: what is absent stays, what is there replaces the old value whole. */
export const UpdateWorkflow = z.object({
  name: CreateWorkflow.shape.name.optional(),
  description: CreateWorkflow.shape.description.unwrap().optional(),
  initialStep: CreateWorkflow.shape.initialStep,
  steps: CreateWorkflow.shape.steps.unwrap().optional(),
  edges: CreateWorkflow.shape.edges.unwrap().optional(),
  payload: CreateWorkflow.shape.payload.unwrap().optional(),
  onCancel: CreateWorkflow.shape.onCancel,
  /** The version that the caller has seen; a newer one is a conflict. */
  version: z.number().int().min(1).nullish(),
})
export type UpdateWorkflow = z.infer<typeof UpdateWorkflow>

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min).max(max))

const flag = z
  .enum(['true', 'false'])
  .optional()
  .transform((value) => value === 'true')

const page = { limit: wholeNumber(1, 1000).optional(), offset: wholeNumber(0, 999_999_999).optional() }

/** The list's query string; limits of `limit` and the meaning of its absence: docs/api.md. */
export const ListWorkflows = z.object({
  search: z
    .string()
    .max(200)
    // U+FFFD is what a query string's bytes become that are not UTF-8, such as a lone surrogate.
    .refine((text) => unstorable(text) === null && !text.includes('\uFFFD'), 'is not valid text')
    .optional(),
  status: z.enum(['draft', 'published', 'archived']).optional(),
  includeArchived: flag,
  ...page,
})
export type ListWorkflows = z.input<typeof ListWorkflows>

export const ListVersions = z.object(page)

export const DeletePermanently = z.object({ terminateRuns: flag })
