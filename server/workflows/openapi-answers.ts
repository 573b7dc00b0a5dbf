import { z } from 'zod'
import { Edge, Fields, Step } from '../definition/schema'
import { time } from '../openapi/fields'
import { itemFields, versionFields } from '../versioned/openapi-answers'

const item = itemFields({
  id: 'The `workflowId` in other calls.',
  publishedVersion: 'The version that starts use; null if no version was ever published.',
})
const versionItem = versionFields({ id: "The workflow's.", published: 'Whether starts use this version.' })

const graph = {
  initialStep: z.string().nullable().describe('The step where a run starts; null while there are no steps.'),
  steps: z.array(Step),
  edges: z.array(Edge),
  payload: Fields.describe('The START fields by name.'),
  onCancel: z.string().optional().describe('The first step of the cleanup path, which runs after a cancel.'),
  onFailure: z
    .string()
    .optional()
    .describe('The first step of the failure path, which runs before a run ends as failed.'),
  businessKey: z.string().optional().describe('What people recognise a run by, such as `${orderId}`.'),
  limits: z
    .object({
      timeoutMs: z.number().optional().describe('How long a run may take, with all its waits. In milliseconds.'),
    })
    .optional()
    .describe('What a run may not exceed.'),
}

export const WorkflowItem = z.object(item)

export const Workflow = z.object({
  ...item,
  ...graph,
  publishedAt: time('When a version was last published.').nullable(),
  archivedAt: time('When it was archived.').nullable(),
  hasUnpublishedChanges: z.boolean().describe('Whether the latest version is not the published one.'),
  createdBy: z.string().describe('The id of the key, or the subject of the token, that created it.'),
  updatedBy: z.string(),
})

export const Problem = z.object({
  severity: z.enum(['error', 'warning']),
  code: z.string().describe('Machine-readable, such as `W_NO_END`.'),
  message: z.string(),
  stepId: z.string().optional(),
  field: z.string().optional().describe('The field in the step, or in the definition.'),
  suggestion: z.string().optional().describe('The name you probably meant.'),
  fault: z
    .enum(['missing', 'unknown', 'wrong'])
    .optional()
    .describe('For an argument of a tool: what is the matter with it.'),
})

export const PublishedWorkflow = Workflow.extend({
  warnings: z.array(Problem).describe('Allowed, but possibly mistakes.'),
})

export const VersionItem = z.object(versionItem)
export const Version = z.object({
  ...versionItem,
  description: z.string(),
  ...graph,
  pins: z
    .record(z.string(), z.object({ kind: z.enum(['tool', 'agent', 'workflow']), id: z.string(), version: z.number() }))
    .optional()
    .describe('By step: the version of what it uses without naming one, as it was when this version was published.'),
})
export const DeletedWorkflow = z.object({ id: z.string(), deleted: z.literal(true) })

export const InputSchema = z.object({
  success: z.literal(true),
  data: z.object({ workflowId: z.string(), payload: Fields.describe('The START fields by name.') }),
})
