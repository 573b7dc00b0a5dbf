import { z } from 'zod'
import { AgentTotals } from '../agents/limits-schema'
import { AnyJson } from '../definition/any-json'
import { component } from '../definition/component'
import { Edge, Fields, MAX_KEY_TEMPLATE, MAX_NAME, Step } from '../definition/schema'
import { TIME_LIMITS } from '../definition/settings'
import { StepRef } from '../definition/step-ref'
import { flag } from '../query/values'
import { listVersioned } from '../versioned/list-schema'
import { SeenVersion } from '../versioned/seen-version'

const Limits = z.object({
  timeoutMs: z.number().int().min(TIME_LIMITS.min).max(TIME_LIMITS.max).optional(),
  agents: AgentTotals.nullish(),
})

export const CreateWorkflow = component('CreateWorkflow', {
  name: z.string().trim().min(1).max(MAX_NAME).describe('Not unique.'),
  description: z.string().max(10_000).default('').describe('For people to read.'),
  initialStep: StepRef.nullish().describe('The id of the step where a run starts; the first step by default.'),
  steps: z.array(Step).max(2000).default([]).describe('A draft may be incomplete; publish and start check it.'),
  edges: z.array(Edge).max(8000).default([]).describe('The connections: each leads from a step to the next.'),
  payload: Fields.default({}).describe('The START fields by name.'),
  onCancel: StepRef.nullish().describe('The first step of the cleanup path, which runs after a cancel.'),
  onFailure: StepRef.nullish().describe('The first step of the failure path, which runs before a run ends as failed.'),
  businessKey: z
    .string()
    .trim()
    .max(MAX_KEY_TEMPLATE)
    .nullish()
    .describe('What people recognise a run by: text with START fields, such as `${orderId}`.'),
  limits: Limits.nullish().describe(
    'The limits of a run: `timeoutMs`, the time from its start, including waits, and what its `agents` may use together.',
  ),
})
export type CreateWorkflow = z.infer<typeof CreateWorkflow>

/** Every field is optional: a missing one leaves its value unchanged, a given one replaces the value as a whole. */
export const UpdateWorkflow = component('UpdateWorkflow', {
  name: CreateWorkflow.shape.name.optional().describe('Keeps its value if left out, like every field.'),
  description: CreateWorkflow.shape.description.unwrap().optional().describe('For people to read.'),
  initialStep: CreateWorkflow.shape.initialStep.describe(
    'The id of the step where a run starts; null means the first step.',
  ),
  steps: CreateWorkflow.shape.steps.unwrap().optional().describe('Replaces all steps.'),
  edges: CreateWorkflow.shape.edges.unwrap().optional().describe('Replaces all edges.'),
  payload: CreateWorkflow.shape.payload.unwrap().optional().describe('Replaces all START fields.'),
  onCancel: CreateWorkflow.shape.onCancel.describe(
    'The first step of the cleanup path, which runs after a cancel; null removes it.',
  ),
  onFailure: CreateWorkflow.shape.onFailure.describe(
    'The first step of the failure path, which runs before a run ends as failed; null removes it.',
  ),
  businessKey: CreateWorkflow.shape.businessKey.describe(
    'What people recognise a run by, such as `${orderId}`; null removes it. Open runs keep theirs.',
  ),
  limits: CreateWorkflow.shape.limits.describe(
    'The limits of a run, `timeoutMs` and `agents`; null removes them. Open runs keep theirs.',
  ),
  version: SeenVersion,
})
export type UpdateWorkflow = z.infer<typeof UpdateWorkflow>

export const SimulateWorkflow = component('SimulateWorkflow', {
  data: z.record(z.string(), AnyJson).default({}).describe('START fields that have these values on every path.'),
  answers: z
    .record(z.string(), AnyJson)
    .default({})
    .describe(
      'By step id: what a tool, agent, workflow or event returns, or the fields of a form, instead of generated values.',
    ),
  version: z
    .union([z.string().max(20), z.number()])
    .default('latest')
    .describe('`latest` (the default), `published` or a number.'),
})

export const ListWorkflows = listVersioned('workflows')

export const DeletePermanently = z.object({
  terminateRuns: flag.describe('Terminate the open runs first. Without this, the response is 409 while runs are open.'),
})
