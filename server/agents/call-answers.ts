import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import { component } from '../definition/component'
import { place, time } from '../openapi/fields'
import { AgentAnswer, ThreadToolCall } from './answers'

const { usage, cost } = AgentAnswer.shape.metadata.shape

const head = {
  turnId: z.string().describe('The turn it belongs to: one for each visit of a step.'),
  stepId: z.string(),
  visit: z.int().min(1),
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
  ...times,
})

export const ToolCall = component('ToolCall', {
  ...head,
  kind: z.literal('tool'),
  name: z.string().describe('The id of the tool.'),
  toolCallId: ThreadToolCall.shape.toolCallId,
  args: AnyJson.describe('The arguments, as the model gave them.'),
  result: ThreadToolCall.shape.result.unwrap().describe('What the model got; a text if it was cut or is an error.'),
  ...times,
})

export const Call = z.discriminatedUnion('kind', [ModelCall, ToolCall])
