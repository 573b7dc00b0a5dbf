import { z } from 'zod'
import type { AgentConfig } from '../definition/agent'
import { AnyJson } from '../definition/any-json'
import { Approval } from '../definition/approval'
import { component, components } from '../definition/component'
import { fallbackFields, ModelConfig, SCRIPTED_MODEL } from '../models/schema'
import { listVersioned } from '../versioned/list-schema'
import { SeenVersion } from '../versioned/seen-version'
import { AgentLimits } from './limits-schema'

export const MAX_NAME = 200
/** The longest message to an agent, in characters. */
export const MAX_MESSAGE = 200_000
/** The most files of a message. */
export const MAX_FILES = 10

/** `latest`, `published` or a number, also as text. Any other text counts as a missing version. */
export const Version = z
  .union([z.string(), z.number()])
  .nullish()
  .transform((version) => version ?? 'latest')

const SavedVersion = z.union([z.string().max(20), z.number()]).default('latest')
const Id = z.string().min(1).max(80)

/** A bare id means the latest version. */
const ToolUse = z.union([
  Id.transform((toolId): AgentConfig['tools'][number] => ({ toolId, version: 'latest' })),
  z.strictObject({ toolId: Id, version: SavedVersion, approval: Approval.optional() }),
])
const HandOff = z.union([
  Id.transform((agentId): AgentConfig['handoffs'][number] => ({ agentId, version: 'latest' })),
  z.strictObject({ agentId: Id, version: SavedVersion, approval: Approval.optional() }),
])

/** Whether it is clear which calls need a decision: none does, or each use is named once. */
const isClear = (uses: [string, unknown][]) =>
  uses.every(([, approval]) => approval === undefined) || new Set(uses.map(([id]) => id)).size === uses.length

export const Instructions = z.string().max(100_000)

const fields = {
  name: z.string().trim().min(1).max(MAX_NAME).describe('Not unique.'),
  description: z
    .string()
    .max(10_000)
    .describe('For people, and for agents that decide whether to hand over to this one.'),
  instructions: Instructions.describe('The system prompt.'),
  model: ModelConfig.describe('The model it uses.'),
  fallbacks: fallbackFields.fallbacks.optional(),
  fallbackOn: fallbackFields.fallbackOn.optional(),
  limits: AgentLimits.optional().describe('What it may use, beside the limits of the workspace.'),
  tools: z
    .array(ToolUse)
    .max(64)
    .refine((tools) => isClear(tools.map(({ toolId, approval }) => [toolId, approval])), 'names a tool twice')
    .describe('The tools it may call: ids, or ids with versions.'),
  /** JSON Schema of an object; null for an agent that answers in text. */
  outputSchema: z
    .record(z.string(), AnyJson)
    .nullable()
    .describe('JSON Schema of its answers, which are objects; null for an agent that answers in text.'),
  supervisor: z
    .boolean()
    .describe('Whether it hands messages to other agents. A supervisor cannot be invoked, only chatted with.'),
  handoffs: z
    .array(HandOff)
    .max(32)
    .refine((agents) => isClear(agents.map(({ agentId, approval }) => [agentId, approval])), 'names an agent twice')
    .describe('The agents it may hand over to: ids, or ids with versions.'),
}

const WholeConfig = z.object(fields)

export type { AgentConfig }

export const CreateAgent = component('CreateAgent', {
  ...fields,
  description: fields.description.default(''),
  instructions: fields.instructions.default(''),
  model: fields.model.default(SCRIPTED_MODEL),
  tools: fields.tools.default([]),
  outputSchema: fields.outputSchema.default(null),
  supervisor: fields.supervisor.default(false),
  handoffs: fields.handoffs.default([]),
})

/** Every field is optional: a missing one leaves its value unchanged, a given one replaces the value as a whole. */
export const UpdateAgent = WholeConfig.partial()
  .extend({
    version: SeenVersion,
  })
  .register(components, { id: 'UpdateAgent' })
export type UpdateAgent = z.infer<typeof UpdateAgent>

export const ListAgents = listVersioned('agents')

const turn = {
  dataContext: z
    .record(z.string(), AnyJson)
    .nullish()
    .transform((data) => data ?? {})
    .describe('Extra data for the agent and its tools.'),
  files: z
    .array(z.strictObject({ fileId: z.string().max(100) }).register(components, { id: 'MessageFile' }))
    .max(MAX_FILES)
    .nullish()
    .transform((files) => files ?? [])
    .describe(
      'Files that the model gets with the message: images, PDFs and texts. Upload each with a form to `POST /api/files` before.',
    ),
  threadId: z.string().nullish().describe('From an earlier answer, to continue that conversation.'),
  version: Version.describe('`latest`, `published`, or a number, also as text.'),
}

/** The message is checked before the rest, because its error has its own wording. */
export const InvokeAgent = z.object(turn)
export type InvokeAgent = z.infer<typeof InvokeAgent>

export const ChatRequest = z.object({
  ...turn,
  agentId: z.string().min(1, 'is required').describe('The agent to chat with.'),
})
