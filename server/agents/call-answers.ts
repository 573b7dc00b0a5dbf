import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import { component, components } from '../definition/component'
import { FAILURE_KINDS } from '../models/schema'
import { place, time } from '../openapi/fields'
import { AgentAnswer, ChatAnswer, ThreadToolCall } from './answers'

const { usage, cost } = AgentAnswer.shape.metadata.shape

export const handedOverBy = component('HandedOverBy', { turnId: z.string(), seq: z.int().min(1) }).optional()

const head = {
  turnId: z.string().describe('The turn it belongs to: in a run, one for each visit of a step.'),
  handedOverBy: handedOverBy.describe('Of an agent that was handed a message: the call that did so.'),
  stepId: z.string().nullable().describe('The step; null outside of runs, as `visit`.'),
  visit: z.int().min(1).nullable(),
  ...place,
  seq: z
    .int()
    .min(1)
    .describe('Its number in the turn. The calls that an answer of the model asks for have the numbers after it.'),
}
const times = { startedAt: time('When it began.'), endedAt: time('When it ended.') }

export const ModelCall = component('ModelCall', {
  ...head,
  kind: z.literal('model'),
  name: z.string().describe('The model.'),
  text: z.string().describe('What it said; empty if it only called tools.'),
  usage: usage.nullable().describe('Null for an answer that was taken over from a run that this one retries.'),
  cost: cost.unwrap().nullable().describe('Null without prices.'),
  errorCode: z.string().nullable().describe('Why its answer did not count; null if it did.'),
  tried: z
    .array(
      component('TriedModel', { provider: z.string(), modelId: z.string(), why: z.enum([...FAILURE_KINDS, 'no-key']) }),
    )
    .optional()
    .describe('The models that gave no answer before it, and why. Absent if none did.'),
  ...times,
})

export const ToolCall = component('ToolCall', {
  ...head,
  kind: z.literal('tool'),
  name: z.string().describe('The id of the tool.'),
  toolCallId: ThreadToolCall.shape.toolCallId,
  args: AnyJson.describe('The arguments, as the model gave them.'),
  result: ThreadToolCall.shape.result.unwrap().describe('What the model got; a text if it was cut or is an error.'),
  decision: component('CallDecision', {
    approved: z.boolean(),
    by: z.string().nullable().describe('Who decided; null if nobody did in time.'),
    voters: z
      .array(z.string())
      .optional()
      .describe('If votes decided: who voted for it, oldest first. The last of them is `by`.'),
    args: z.record(z.string(), AnyJson).optional().describe('The arguments that they changed.'),
    remark: z.string().optional(),
  })
    .optional()
    .describe('What people decided about the call; absent if nobody was asked.'),
  ...times,
})

export const Call = z.discriminatedUnion('kind', [ModelCall, ToolCall])

const Turn = component('Turn', {
  id: z.string(),
  agentId: z.string(),
  version: z.int().min(1).describe('The version of the agent.'),
  via: z.enum(['run', 'invoke', 'chat', 'handoff']).describe('What began it.'),
  handedOverBy: handedOverBy.describe('Of a handoff: the call of another agent that handed the message over.'),
  runId: z
    .string()
    .nullable()
    .describe('The run that has it; null for a turn of invoke or chat that waited for nobody.'),
  workflowId: z.string().nullable(),
  stepId: z.string().nullable(),
  visit: z.int().min(1).nullable(),
  ...place,
  threadId: z.string().nullable().describe('The thread that it continued or began; null if it began none yet.'),
  state: z
    .enum(['working', 'waiting', 'done', 'failed'])
    .describe(
      'A waiting turn has asked people about a call. One that a crash has cut short is working until the attempts of its step have ended.',
    ),
  errorCode: z.string().nullable().describe('Why it failed; null if it did not.'),
  usage: usage.describe('The sum of its calls.'),
  cost: cost.unwrap().nullable().describe('The sum of its calls; null without prices.'),
  startedAt: time('When it began.'),
  endedAt: time('When it ended.').nullable(),
})

export const TurnList = component('TurnList', {
  turns: z.array(Turn).describe('Newest first.'),
  nextCursor: z.string().nullable().describe('The `cursor` of the next page; null on the last one.'),
})

export const TurnWithCalls = Turn.extend({
  answer: AgentAnswer.or(ChatAnswer)
    .nullable()
    .describe('What the caller of invoke or chat gets; null until it is known, and for turns that a run began.'),
  calls: z.array(Call).describe('In the order in which they were recorded.'),
  next: z.string().nullable().describe('Send it as `after` for more calls; null if there are no more.'),
}).register(components, { id: 'TurnWithCalls' })
