import { z } from 'zod'
import type { TurnEventName } from '../definition/agent'
import { AnyJson } from '../definition/any-json'
import { Approval } from '../definition/approval'
import { component, components } from '../definition/component'
import { fallbackFields, ModelConfig } from '../models/schema'
import { time } from '../openapi/fields'
import { itemFields, versionFields } from '../versioned/answers'
import { AgentLimits } from './limits-schema'
import { ChatRequest, Instructions, InvokeAgent, MAX_MESSAGE } from './schema'

/** In the handler's order: the message is checked first, because its error has its own wording. */
export const InvokeAgentBody = component('InvokeAgent', {
  message: z.string().min(1).max(MAX_MESSAGE).describe('The message to the agent.'),
  ...InvokeAgent.shape,
})

const usedVersion = z.union([z.string(), z.number()])

const configured = {
  instructions: Instructions,
  model: ModelConfig,
  fallbacks: fallbackFields.fallbacks.optional(),
  fallbackOn: fallbackFields.fallbackOn.optional(),
  limits: AgentLimits.optional(),
  tools: z
    .array(component('AgentTool', { toolId: z.string(), version: usedVersion, approval: Approval.optional() }))
    .describe('The tools it may call.'),
  outputSchema: z.record(z.string(), AnyJson).nullable().describe('JSON Schema of its answers; null for text.'),
  supervisor: z.boolean().describe('Whether it hands messages to other agents.'),
  handoffs: z
    .array(component('AgentHandoff', { agentId: z.string(), version: usedVersion, approval: Approval.optional() }))
    .describe('The agents it may hand over to.'),
}

export const AgentItem = component(
  'AgentItem',
  itemFields({
    id: 'The `agentId` in other calls.',
    publishedVersion: 'Null if no version was ever published.',
  }),
)

export const Agent = AgentItem.extend({
  ...configured,
  publishedAt: z.iso.datetime().nullable(),
  archivedAt: z.iso.datetime().nullable(),
  hasUnpublishedChanges: z.boolean().describe('Whether the latest version is not the published one.'),
  createdBy: z.string(),
  updatedBy: z.string(),
}).register(components, { id: 'Agent' })

export const AgentVersionItem = component(
  'AgentVersionItem',
  versionFields({ id: "The agent's.", published: 'Whether it is the published one.' }),
)
export const AgentVersion = AgentVersionItem.extend({ description: z.string(), ...configured }).register(components, {
  id: 'AgentVersion',
})

export const AgentSchema = component('AgentSchema', {
  agentId: z.string(),
  name: z.string(),
  outputSchema: z.record(z.string(), AnyJson).describe('JSON Schema of the `data` of an invocation.'),
})

const tokens = z.int().min(0)

export const AgentAnswer = component('AgentAnswer', {
  data: z.record(z.string(), AnyJson).describe('Matches the agent’s output schema.'),
  threadId: z.string().describe('Send it with the next message to continue this conversation.'),
  metadata: z.object({
    provider: z.string().describe('The provider that answered: `scripted` if there is no key for the agent’s own.'),
    modelId: z.string(),
    fallback: z.literal(true).optional().describe('Set if one of the agent’s fall-back models answered.'),
    version: z.int().min(1).describe('The version of the agent.'),
    usage: z.object({ inputTokens: tokens, outputTokens: tokens, totalTokens: tokens }),
    cost: z.number().min(0).optional().describe('In US dollars, if the model has `prices` and its price is known.'),
    rounds: z.int().min(0).describe('How many times the model called tools before it answered.'),
    toolCalls: z.int().min(0),
    repaired: z
      .boolean()
      .optional()
      .describe('Whether the first answer did not match the schema and the model was asked to correct it.'),
    finishReason: z
      .enum(['length', 'content-filter', 'error'])
      .optional()
      .describe('Why the answer is not whole; absent if it is.'),
    warnings: z.array(z.string()).optional(),
  }),
})

/** In the handler's order: the message is checked first, because its error has its own wording. */
export const ChatBody = component('Chat', {
  message: z.string().min(1).max(MAX_MESSAGE).describe('The message to the agent.'),
  ...ChatRequest.shape,
})

const { threadId, metadata } = AgentAnswer.shape
export const ChatAnswer = component('ChatAnswer', {
  message: z.string().describe('What the agent says.'),
  threadId,
  usage: metadata.shape.usage,
  metadata,
})

export const ThreadItem = z.object({
  id: z.string().describe('The `threadId` in other calls.'),
  agentId: z.string(),
  subject: z.string().nullable().describe('The `sub` of the token that began it; null for the workspace itself.'),
  createdAt: time('When it began.'),
  updatedAt: time('When its last answer was saved.'),
})

export const ThreadList = component('ThreadList', {
  threads: z.array(
    ThreadItem.extend({
      title: z.string().nullable().describe('The start of its first message; null until that is answered.'),
    }).register(components, { id: 'ThreadItem' }),
  ),
  nextCursor: z.string().nullable().describe('The `cursor` of the next page; null on the last one.'),
})

export const ThreadToolCall = component('ThreadToolCall', {
  toolCallId: z.string(),
  toolId: z.string().describe('The tool, or `handoff_` and the id of the agent that was handed over to.'),
  args: AnyJson,
  result: z
    .object({ success: z.boolean(), value: AnyJson })
    .nullable()
    .describe('What the model got; a text if it was cut or is an error. Null for a call without a result.'),
})

export const ThreadTurn = component('ThreadTurn', {
  seq: z.int().min(1).describe('The place of its first message in the thread.'),
  createdAt: time('When it was saved.'),
  message: z.string().describe('The message to the agent.'),
  dataContext: z.record(z.string(), AnyJson).describe('The data that came with it.'),
  files: z
    .array(component('ThreadFile', { fileId: z.string(), name: z.string(), type: z.string(), size: z.int().min(0) }))
    .optional()
    .describe('The files that the model got with it. Absent without any.'),
  toolCalls: z.array(ThreadToolCall).describe('The tool calls, in order.'),
  answer: z.string().describe('What the agent answered: text, or the JSON of its data.'),
  metadata: AgentAnswer.shape.metadata
    .extend({ draft: z.literal(true).optional().describe('Set for an answer of a draft, in the dashboard.') })
    .nullable(),
})

export const Thread = ThreadItem.extend({
  turns: z.array(ThreadTurn).describe('Newest first.'),
  nextCursor: z.string().nullable().describe('The `cursor` of earlier turns; null if these are the first.'),
}).register(components, { id: 'Thread' })

/** An event of a turn's stream, with its `id`, `event` and `data`. */
export const turnEvent = <N extends TurnEventName, S extends z.ZodRawShape>(name: N, text: string, data: S) =>
  z.object({
    id: z.string().describe('For `Last-Event-ID`.'),
    event: z.literal(name).describe(text),
    data: z.object(data),
  })
const ofTool = { toolCallId: z.string(), agentId: z.string(), toolId: z.string() }

export const MessageDelta = turnEvent('message.delta', 'The next piece of the answer.', {
  text: z.string(),
  agentId: z.string(),
}).register(components, { id: 'MessageDelta' })
export const MessageRestart = turnEvent(
  'message.restart',
  'Another model answers: the pieces since the last tool call, or since the start, no longer count.',
  { agentId: z.string() },
).register(components, { id: 'MessageRestart' })
export const ToolCalled = turnEvent('tool.call', 'The agent calls a tool.', { ...ofTool, args: AnyJson }).register(
  components,
  { id: 'ToolCalled' },
)
export const ToolReturned = turnEvent('tool.result', 'The tool has ended.', {
  ...ofTool,
  success: z.boolean(),
  data: AnyJson.optional().describe('What it returned, if it succeeded.'),
  error: z.object({ message: z.string(), code: z.string() }).optional().describe('Why it failed, if it did.'),
}).register(components, { id: 'ToolReturned' })
export const HandedOver = turnEvent('handoff', 'The agent hands the message to another one.', {
  from: z.string(),
  to: z.string(),
  message: z.string(),
}).register(components, { id: 'HandedOver' })
export const ApprovalRequested = turnEvent('approval.requested', 'People are asked about a call of the agent.', {
  approvalId: z.string().describe('For `approvals`.'),
  title: z.string().nullable(),
  toolId: z.string().nullable().describe('The tool; null for a question about something else than a call.'),
  args: AnyJson.describe('Its arguments.'),
  why: z.string().nullable().describe('Why the model makes the call, in its own words; plain text.'),
  runId: z.string(),
  pauseId: z.string(),
}).register(components, { id: 'ApprovalRequested' })
export const MessageWaiting = turnEvent('message.waiting', 'The end for now: the turn waits for people.', {
  threadId,
  runId: z.string().describe('The run that continues the turn.'),
}).register(components, { id: 'MessageWaiting' })
export const MessageDone = turnEvent('message.done', 'The end: the complete answer.', ChatAnswer.shape).register(
  components,
  { id: 'MessageDone' },
)
export const ChatFailed = turnEvent('error', 'The end: there is no answer.', {
  code: z.string(),
  message: z.string(),
  details: z
    .array(
      z
        .looseObject({ path: z.string().optional(), message: z.string() })
        .register(components, { id: 'ChatErrorDetail' }),
    )
    .optional()
    .describe('As those of an error.'),
  threadId,
  requestId: z.string().optional(),
}).register(components, { id: 'ChatFailed' })
export const ChatEvent = z
  .discriminatedUnion('event', [
    MessageDelta,
    MessageRestart,
    ToolCalled,
    ToolReturned,
    HandedOver,
    ApprovalRequested,
    MessageWaiting,
    MessageDone,
    ChatFailed,
  ])
  .register(components, { id: 'ChatEvent' })
