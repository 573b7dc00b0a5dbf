import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import { component } from '../definition/component'
import { Edge, Fields, MAX_KEY_TEMPLATE, MAX_NAME, Step } from '../definition/schema'
import { TIME_LIMITS } from '../definition/settings'
import { StepRef } from '../definition/step-ref'
import { flag } from '../query-values'

const Limits = z.object({ timeoutMs: z.number().int().min(TIME_LIMITS.min).max(TIME_LIMITS.max).optional() })

export const CreateWorkflow = component('CreateWorkflow', {
  name: z.string().trim().min(1).max(MAX_NAME),
  description: z.string().max(10_000).default(''),
  initialStep: StepRef.nullish(),
  steps: z.array(Step).max(2000).default([]),
  edges: z.array(Edge).max(8000).default([]),
  payload: Fields.default({}),
  onCancel: StepRef.nullish(),
  onFailure: StepRef.nullish(),
  businessKey: z.string().trim().max(MAX_KEY_TEMPLATE).nullish(),
  limits: Limits.nullish(),
})
export type CreateWorkflow = z.infer<typeof CreateWorkflow>

/** Every field is optional: a missing one keeps its value, a given one replaces the old value as a whole. */
export const UpdateWorkflow = component('UpdateWorkflow', {
  name: CreateWorkflow.shape.name.optional(),
  description: CreateWorkflow.shape.description.unwrap().optional(),
  initialStep: CreateWorkflow.shape.initialStep,
  steps: CreateWorkflow.shape.steps.unwrap().optional(),
  edges: CreateWorkflow.shape.edges.unwrap().optional(),
  payload: CreateWorkflow.shape.payload.unwrap().optional(),
  onCancel: CreateWorkflow.shape.onCancel,
  onFailure: CreateWorkflow.shape.onFailure,
  businessKey: CreateWorkflow.shape.businessKey,
  limits: CreateWorkflow.shape.limits,
  /** The version the caller last saw; a newer one is a conflict. */
  version: z.number().int().min(1).nullish(),
})
export type UpdateWorkflow = z.infer<typeof UpdateWorkflow>

export const SimulateWorkflow = component('SimulateWorkflow', {
  data: z.record(z.string(), AnyJson).default({}),
  answers: z.record(z.string(), AnyJson).default({}),
  version: z.union([z.string().max(20), z.number()]).default('latest'),
})

export const DeletePermanently = z.object({ terminateRuns: flag })
