import { z } from 'zod'
import { Edge, Fields, Step } from '../definition/schema'
import { time } from '../openapi/fields'
import { itemFields, versionFields } from '../versioned/openapi-answers'

const item = itemFields({
  id: 'The `workflowId` of the other calls.',
  publishedVersion: 'The version that starts run; null when none was ever published.',
})
const versionItem = versionFields({ id: "The workflow's.", published: 'Whether it is the one that starts run.' })

const graph = {
  initialStep: z.string().nullable().describe('The step where a run begins; null while there is no step.'),
  steps: z.array(Step),
  edges: z.array(Edge),
  payload: Fields.describe('The START fields by name.'),
  onCancel: z.string().optional().describe('The first step of the path that runs when a run is cancelled.'),
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
  code: z.string().describe('For programs, such as `W_NO_END`.'),
  message: z.string(),
  stepId: z.string().optional(),
  field: z.string().optional().describe('The field of the step, or of the definition.'),
  suggestion: z.string().optional().describe('The name that was probably meant.'),
})

export const PublishedWorkflow = Workflow.extend({
  warnings: z.array(Problem).describe('What is legal but may be a mistake.'),
})

export const VersionItem = z.object(versionItem)
export const Version = z.object({ ...versionItem, description: z.string(), ...graph })
export const DeletedWorkflow = z.object({ id: z.string(), deleted: z.literal(true) })

export const InputSchema = z.object({
  success: z.literal(true),
  data: z.object({ workflowId: z.string(), payload: Fields.describe('The START fields by name.') }),
})
