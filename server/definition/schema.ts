import { z } from 'zod'
import type { JsonObject } from './json'

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
