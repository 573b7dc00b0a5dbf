import { z } from 'zod'
import { ChatRequest, MAX_MESSAGE } from '../agents/schema'
import { TOOL_KINDS } from '../tools/schema'
import { ToolResult, VersionItem, WorkflowItem } from './responses'
import { AgentAnswer } from './responses-agents'

const kind = z.enum([...TOOL_KINDS, 'builtin'])
const JsonSchema = z.record(z.string(), z.json()).nullable()

const said = {
  config: z.record(z.string(), z.json()).nullable().describe('What the tool does; null for built-in tools.'),
  inputSchema: JsonSchema.describe('JSON Schema of its arguments; null when they are not checked.'),
  outputSchema: JsonSchema.describe('JSON Schema of its result; null when it is not checked.'),
}

export const ToolItem = WorkflowItem.extend({
  id: z.string().describe('The `toolId` of the other calls.'),
  kind,
  publishedVersion: z.int().min(1).nullable().describe('Null when none was ever published.'),
})

export const Tool = ToolItem.extend({
  ...said,
  publishedAt: z.iso.datetime().nullable(),
  archivedAt: z.iso.datetime().nullable(),
  hasUnpublishedChanges: z.boolean().describe('Whether the latest version is not the published one.'),
  createdBy: z.string(),
  updatedBy: z.string(),
})

export const ToolVersionItem = VersionItem.extend({
  id: z.string().describe("The tool's."),
  kind,
  published: z.boolean().describe('Whether it is the published one.'),
})
export const ToolVersion = ToolVersionItem.extend({ description: z.string(), ...said })

const [, failed] = ToolResult.options
export const RemoteTools = z.discriminatedUnion('success', [
  z.object({ success: z.literal(true), data: z.json().describe('The tools of the server, as it describes them.') }),
  failed.omit({ debug: true }),
])

/** As the handler reads it: the message first, since its refusal has a text of its own. */
export const ChatBody = z.object({ message: z.string().min(1).max(MAX_MESSAGE), ...ChatRequest.shape })

const { threadId, metadata } = AgentAnswer.shape
export const ChatAnswer = z.object({
  message: z.string().describe('What the agent says.'),
  threadId,
  usage: metadata.shape.usage,
  metadata,
})
