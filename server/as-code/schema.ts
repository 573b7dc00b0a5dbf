import { z } from 'zod'
import { CreateAgent } from '../agents/schema'
import { components } from '../definition/component'
import { isId } from '../ids'
import { CreateInbound } from '../inbound/schema'
import { BacktestWorkflow } from '../runs/backtest/schema'
import { CreateSchedule } from '../schedules/schema'
import { CreateTool } from '../tools/schema'
import { CreateWorkflow } from '../workflows/schema'

/** How many definitions one apply takes. */
export const MAX_DEFINITIONS = 500

const Id = z.string().refine(isId, 'must have 1 to 80 letters, digits, _ or -')
const id = Id.describe('The same in every workspace. Other definitions refer to it.')
const workflowId = Id.describe('The workflow that it starts.')

/** Strict, unlike the bodies of creates: a misspelt field in a file would be lost silently. */
export const DefinedWorkflow = CreateWorkflow.extend({ id }).strict().register(components, { id: 'DefinedWorkflow' })
export const DefinedAgent = CreateAgent.extend({ id }).strict().register(components, { id: 'DefinedAgent' })
export const DefinedTool = CreateTool.extend({ id }).strict().register(components, { id: 'DefinedTool' })
export const DefinedSchedule = CreateSchedule.extend({ id, workflowId })
  .strict()
  .register(components, { id: 'DefinedSchedule' })
/** Without a secret: secrets do not belong into files. */
export const DefinedInbound = CreateInbound.omit({ secret: true })
  .extend({ id, workflowId })
  .strict()
  .register(components, { id: 'DefinedInbound' })

/** The lists of a body, in export order. */
export const PLURALS = ['tools', 'agents', 'workflows', 'schedules', 'inboundWebhooks'] as const
export type Plural = (typeof PLURALS)[number]

const definitions = {
  tools: z
    .array(DefinedTool)
    .max(MAX_DEFINITIONS)
    .default([])
    .describe('Each as for a create, with its `id`. Unknown fields are an error.'),
  agents: z.array(DefinedAgent).max(MAX_DEFINITIONS).default([]).describe('Each as for a create, with its `id`.'),
  workflows: z
    .array(DefinedWorkflow)
    .max(MAX_DEFINITIONS)
    .default([])
    .describe('Each as for a create, with its `id`. Unknown fields of steps, edges and fields are warnings.'),
  schedules: z
    .array(DefinedSchedule)
    .max(MAX_DEFINITIONS)
    .default([])
    .describe('Each as for a create, with its `id` and its `workflowId`.'),
  inboundWebhooks: z
    .array(DefinedInbound)
    .max(MAX_DEFINITIONS)
    .default([])
    .describe('Each as for a create, with its `id` and its `workflowId`, and without a secret.'),
}

/** Strict: without its misspelt list, `prune` would archive everything. */
export const ApplyDefinitions = z
  .strictObject({
    ...definitions,
    publish: z.boolean().default(false).describe('Publish all of them as well.'),
    prune: z
      .boolean()
      .default(false)
      .describe(
        'Archive objects that were applied before and are missing here; with `force`, all workflows, agents and tools that are missing here. Schedules and inbound webhooks are deleted, but only if they were applied before. A kind without any definition here needs `force`.',
      ),
    force: z.boolean().default(false).describe('Overwrite changes by others.'),
    // An export has this field.
    next: z
      .null('must be null: there are more definitions than these')
      .optional()
      .describe('Ignored, so that a whole export can be sent.'),
  })
  .register(components, { id: 'ApplyDefinitions' })

/** The same, under a name of its own in the document. */
export const DiffDefinitions = z.strictObject(ApplyDefinitions.shape).register(components, { id: 'DiffDefinitions' })

const trying = {
  runs: BacktestWorkflow.shape.runs,
  scripts: BacktestWorkflow.shape.scripts,
  reveal: BacktestWorkflow.shape.reveal,
}

/** How a backtest of definitions tries runs. */
export const TryDefinitions = z.object(trying)
export type TryOptions = z.output<typeof TryDefinitions>

export const BacktestDefinitions = z
  .strictObject({
    ...ApplyDefinitions.shape,
    ...trying,
    runs: trying.runs.describe('How many runs of each workflow to try.'),
  })
  .register(components, { id: 'BacktestDefinitions' })

export type ApplyOptions = Pick<z.output<typeof ApplyDefinitions>, 'publish' | 'prune' | 'force'>

const AFTER = new RegExp(`^(${PLURALS.join('|')})/[A-Za-z0-9_-]{1,80}$`)

export const ExportDefinitions = z.object({
  kind: z.enum(PLURALS).optional().describe('Only these.'),
  after: z
    .string()
    .regex(AFTER, 'must be the `next` of another answer')
    .optional()
    .describe('The `next` of the previous response.'),
})
