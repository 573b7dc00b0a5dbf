import { z } from 'zod'
import { AgentTotals } from '../agents/limits-schema'
import { AnyJson } from '../definition/any-json'
import { component, components } from '../definition/component'
import { Edge, Fields, Step } from '../definition/schema'
import { time } from '../openapi/fields'
import { itemFields, versionFields } from '../versioned/answers'

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
      timeoutMs: z.number().optional().describe('How long a run may take, including waits. In milliseconds.'),
      agents: AgentTotals.optional(),
    })
    .optional()
    .describe('The limits of a run.'),
}

export const WorkflowItem = component('WorkflowItem', item)

export const Workflow = component('Workflow', {
  ...item,
  ...graph,
  publishedAt: time('When a version was last published.').nullable(),
  archivedAt: time('When it was archived.').nullable(),
  hasUnpublishedChanges: z.boolean().describe('Whether the latest version is not the published one.'),
  createdBy: z.string().describe('The id of the key, or the subject of the token, that created it.'),
  updatedBy: z.string(),
})

export const Problem = component('Problem', {
  severity: z.enum(['error', 'warning']),
  code: z.string().describe('Machine-readable, such as `W_NO_END`.'),
  message: z.string(),
  stepId: z.string().optional(),
  field: z.string().optional().describe('The field in the step, or in the definition.'),
  suggestion: z.string().optional().describe('The name you probably meant.'),
  fault: z
    .enum(['missing', 'unknown', 'wrong'])
    .optional()
    .describe('For an argument of a tool: what is wrong with it.'),
})

export const PublishedWorkflow = Workflow.extend({
  warnings: z.array(Problem).describe('Allowed, but possibly mistakes.'),
}).register(components, { id: 'PublishedWorkflow' })

export const VersionItem = component('VersionItem', versionItem)
export const Version = component('Version', {
  ...versionItem,
  description: z.string(),
  ...graph,
  pins: z
    .record(z.string(), z.object({ kind: z.enum(['tool', 'agent', 'workflow']), id: z.string(), version: z.number() }))
    .optional()
    .describe(
      'By step id: the version in use of the tool, agent or workflow for which the step names none, fixed when this version was published.',
    ),
})
export const DeletedWorkflow = component('DeletedWorkflow', { id: z.string(), deleted: z.literal(true) })

export const InputSchema = component('InputSchema', {
  success: z.literal(true),
  data: z.object({ workflowId: z.string(), payload: Fields.describe('The START fields by name.') }),
})

const Share = z.object({ total: z.number(), reached: z.number() })
const Input = z.record(z.string(), AnyJson).describe('The START fields of the path.')

export const Simulation = component('Simulation', {
  workflowId: z.string(),
  version: z.number().describe('The version that was simulated.'),
  truncated: z.boolean().describe('Whether it reached its limits before everything was tried.'),
  coverage: z.object({ steps: Share, exits: Share }),
  unreached: z.array(z.string()).describe('Steps that no path reached, although an edge leads there.'),
  unreachable: z.array(z.string()).describe('Steps that no edge leads to.'),
  exits: z.array(
    component('SimulatedExit', {
      stepId: z.string(),
      exit: z.string(),
      reached: z.boolean(),
      assumed: z.boolean().describe('Taken only to see what follows: no tried values led there.'),
    }),
  ),
  failures: z
    .array(
      component('SimulatedFailure', {
        stepId: z.string(),
        code: z.string(),
        message: z.string(),
        handled: z.boolean().describe('Whether an `error` edge handles the failure.'),
        input: Input,
      }),
    )
    .describe('Steps that failed with the values that were tried, such as an expression without a value.'),
  unknown: z.array(z.string()).describe('Steps that depend on unknown values, which you can give in `answers`.'),
  longestPath: z.object({ steps: z.number(), visits: z.array(z.string()) }),
  pathsTried: z.number(),
  paths: z
    .array(
      component('SimulatedPath', {
        outcome: z.enum(['completed', 'failed', 'cut']),
        error: z.object({ code: z.string(), message: z.string(), stepId: z.string().nullable() }).nullable(),
        steps: z.number().describe('How many steps it visited.'),
        visits: z.array(z.string()).describe('The first 100 of them; those in a branch are given with its name.'),
        assumed: z.boolean().describe('Whether the path was chosen without values that lead there.'),
        input: Input,
      }),
    )
    .describe('The first 20.'),
  mayAsk: z
    .array(z.string())
    .describe(
      'Steps that a path reached, outside of the cleanup and failure paths, whose agents may ask people about calls or at limits.',
    ),
})
