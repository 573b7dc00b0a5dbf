import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import { component, components } from '../definition/component'
import { Backtest } from '../runs/backtest/answers'
import { Problem } from '../workflows/answers'
import { DefinedAgent, DefinedInbound, DefinedSchedule, DefinedTool, DefinedWorkflow } from './schema'

export const Definitions = component('Definitions', {
  tools: z.array(DefinedTool),
  agents: z.array(DefinedAgent),
  workflows: z.array(DefinedWorkflow),
  schedules: z.array(DefinedSchedule),
  inboundWebhooks: z
    .array(DefinedInbound)
    .optional()
    .describe('Only for callers who may change them. Without addresses and secrets.'),
  next: z.string().nullable().describe('Send it as `after` to get the rest; null when there is none.'),
})

const kind = z.enum(['tool', 'agent', 'workflow', 'schedule', 'inboundWebhook'])

const change = {
  kind,
  id: z.string(),
  name: z.string(),
  actions: z
    .array(z.enum(['create', 'update', 'unarchive', 'publish', 'archive', 'delete']))
    .describe('The actions taken, in this order.'),
  version: z
    .number()
    .int()
    .nullable()
    .describe('Its latest version afterwards; null for schedules and inbound webhooks, which have none.'),
}
const content = z.record(z.string(), AnyJson).nullable().optional()

const more = {
  unchanged: z.number().int().describe('How many definitions change nothing.'),
  warnings: z
    .array(Problem.extend({ kind, id: z.string() }).register(components, { id: 'DefinitionWarning' }))
    .describe(
      'Problems that prevent nothing: of published workflows, of unknown fields in workflows, of what uses an object that prune archives, and of inbound webhooks without a secret.',
    ),
}

export const AppliedDefinitions = component('AppliedDefinitions', {
  changes: z.array(component('AppliedChange', change)),
  ...more,
})

const Refusal = z
  .looseObject({
    path: z.string().describe('The definition in the body, and the place in it.'),
    kind,
    id: z.string(),
    message: z.string(),
  })
  .register(components, { id: 'DefinitionRefusal' })

export const DefinitionsDiff = component('DefinitionsDiff', {
  changes: z.array(
    component('DefinitionChange', {
      ...change,
      before: content.describe(
        'Its current definition; null if the object does not exist. Absent if the definition stays the same.',
      ),
      after: content.describe('Its new definition; null if the object would be archived or deleted.'),
    }),
  ),
  drift: z.array(Refusal).describe('Changes by others: apply refuses to overwrite them.'),
  problems: z.array(Refusal).describe('What prevents saving or publishing: apply refuses it.'),
  ...more,
})

export const BacktestedDefinitions = component('BacktestedDefinitions', {
  workflows: z
    .array(
      Backtest.extend({ name: z.string().describe('Its name with this apply.') }).register(components, {
        id: 'BacktestedWorkflow',
      }),
    )
    .describe('Each workflow whose runs would follow something else. `version` is the number that it would get.'),
  untried: z.array(
    component('UntriedWorkflow', {
      workflowId: z.string(),
      name: z.string(),
      why: z
        .enum(['new', 'archived', 'invalid', 'time'])
        .describe(
          '`new`: it has no past runs. `archived`: prune archives it. `invalid`: it would be saved, but could not run. `time`: 25 seconds were over.',
        ),
    }),
  ),
  unchanged: z.number().int().describe('How many workflows of the body stay as they are.'),
  truncated: z.boolean().describe('Whether 25 seconds were over before all runs were tried.'),
})
