import { z } from 'zod'
import { Problem } from '../workflows/openapi-answers'
import { DefinedAgent, DefinedTool, DefinedWorkflow } from './schema'

export const Definitions = z.object({
  tools: z.array(DefinedTool),
  agents: z.array(DefinedAgent),
  workflows: z.array(DefinedWorkflow),
  next: z.string().nullable().describe('What to send as `after` for the rest; null when there is none.'),
})

const kind = z.enum(['tool', 'agent', 'workflow'])

const change = {
  kind,
  id: z.string(),
  name: z.string(),
  actions: z
    .array(z.enum(['create', 'update', 'unarchive', 'publish', 'archive']))
    .describe('What was done to it, in this order.'),
  version: z.number().int().describe('Its latest version afterwards.'),
}
const content = z.record(z.string(), z.json()).nullable().optional()

const more = {
  unchanged: z.number().int().describe('How many definitions say what is already so.'),
  warnings: z.array(Problem.extend({ kind, id: z.string() })).describe('Of workflows that were published.'),
}

export const AppliedDefinitions = z.object({ changes: z.array(z.object(change)), ...more })

const Refusal = z.looseObject({
  path: z.string().describe('The definition in the body, and the place in it.'),
  kind,
  id: z.string(),
  message: z.string(),
})

export const DefinitionsDiff = z.object({
  changes: z.array(
    z.object({
      ...change,
      before: content.describe('What it says now; null if there is no such object. Absent if that stays.'),
      after: content.describe('What it would say; null if it would be archived.'),
    }),
  ),
  drift: z.array(Refusal).describe('What somebody else changed: apply refuses it.'),
  problems: z.array(Refusal).describe('What prevents saving or publishing: apply refuses it.'),
  ...more,
})
