import { z } from 'zod'
import { CreateAgent } from '../agents/schema'
import { components } from '../definition/component'
import { isId } from '../ids'
import { CreateInbound } from '../inbound/schema'
import { CreateSchedule } from '../schedules/schema'
import { CreateTool } from '../tools/schema'
import { CreateWorkflow } from '../workflows/schema'

/** How many definitions one apply takes. */
export const MAX_DEFINITIONS = 500

const id = z.string().refine(isId, 'must have 1 to 80 letters, digits, _ or -')

/** Strict, unlike the bodies of creates: a misspelt field in a file would be lost silently. */
export const DefinedWorkflow = CreateWorkflow.extend({ id }).strict().register(components, { id: 'DefinedWorkflow' })
export const DefinedAgent = CreateAgent.extend({ id }).strict().register(components, { id: 'DefinedAgent' })
export const DefinedTool = CreateTool.extend({ id }).strict().register(components, { id: 'DefinedTool' })
export const DefinedSchedule = CreateSchedule.extend({ id, workflowId: id })
  .strict()
  .register(components, { id: 'DefinedSchedule' })
/** Without a secret: a file is no place for one. */
export const DefinedInbound = CreateInbound.omit({ secret: true })
  .extend({ id, workflowId: id })
  .strict()
  .register(components, { id: 'DefinedInbound' })

/** The lists of a body, in the order in which they are exported. */
export const PLURALS = ['tools', 'agents', 'workflows', 'schedules', 'inboundWebhooks'] as const
export type Plural = (typeof PLURALS)[number]

const definitions = {
  tools: z.array(DefinedTool).max(MAX_DEFINITIONS).default([]),
  agents: z.array(DefinedAgent).max(MAX_DEFINITIONS).default([]),
  workflows: z.array(DefinedWorkflow).max(MAX_DEFINITIONS).default([]),
  schedules: z.array(DefinedSchedule).max(MAX_DEFINITIONS).default([]),
  inboundWebhooks: z.array(DefinedInbound).max(MAX_DEFINITIONS).default([]),
}

/** Strict: without its misspelt list, `prune` would archive everything. */
export const ApplyDefinitions = z
  .strictObject({
    ...definitions,
    publish: z.boolean().default(false),
    prune: z.boolean().default(false),
    force: z.boolean().default(false),
    // An export has it.
    next: z.null('must be null: there are more definitions than these').optional(),
  })
  .register(components, { id: 'ApplyDefinitions' })

/** The same, under a name of its own in the document. */
export const DiffDefinitions = z.strictObject(ApplyDefinitions.shape).register(components, { id: 'DiffDefinitions' })

export type ApplyOptions = Pick<z.output<typeof ApplyDefinitions>, 'publish' | 'prune' | 'force'>

const AFTER = new RegExp(`^(${PLURALS.join('|')})/[A-Za-z0-9_-]{1,80}$`)

export const ExportDefinitions = z.object({
  kind: z.enum(PLURALS).optional(),
  after: z.string().regex(AFTER, 'must be the `next` of another answer').optional(),
})
