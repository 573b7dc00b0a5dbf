import { z } from 'zod'
import {
  AgentAnswer,
  ApprovalRequested,
  ChatFailed,
  HandedOver,
  ToolCalled,
  ToolReturned,
  turnEvent,
} from '../agents/answers'
import * as examples from '../agents/examples'
import { AnyJson } from '../definition/any-json'
import { component, components } from '../definition/component'
import { answer } from '../openapi/answer'
import { example } from '../openapi/example'
import { PauseDescriptor } from '../runs/answers'
import type { Waiting } from './await-run'

export const APPROVAL_ID = `${examples.turn.id}.2`

const TurnWaits = component('TurnWaits', {
  data: z.null(),
  threadId: z.string().describe('The thread. It takes no other message until the turn has ended.'),
  status: z.enum(['paused', 'running']).describe('`running` if nobody is asked, but the answer takes longer.'),
  runId: z.string().describe('The run that continues the turn. Cancel it to give up.'),
  turnId: z.string().describe('The turn, which has the answer once there is one.'),
  pauseSignal: PauseDescriptor.nullable().describe('The first question.'),
  pauseSignals: z.array(PauseDescriptor).describe('What people are asked.'),
})

const AnswerPartial = turnEvent(
  'answer.partial',
  'The data so far. It replaces what came before, and nothing has checked it against the schema.',
  { data: z.record(z.string(), AnyJson) },
).register(components, { id: 'AnswerPartial' })
const AnswerRestart = turnEvent('answer.restart', 'The data so far no longer counts: the agent begins anew.', {
  agentId: z.string(),
}).register(components, { id: 'AnswerRestart' })
const AnswerWaiting = turnEvent(
  'answer.waiting',
  'The end for now: the turn waits for people. The body of 202.',
  TurnWaits.shape,
).register(components, { id: 'AnswerWaiting' })
const AnswerDone = turnEvent('answer.done', 'The end: the body of 200.', AgentAnswer.shape).register(components, {
  id: 'AnswerDone',
})

/** The events of an invocation. */
export const AnswerEvent = z
  .discriminatedUnion('event', [
    AnswerPartial,
    AnswerRestart,
    ToolCalled,
    ToolReturned,
    HandedOver,
    ApprovalRequested,
    AnswerWaiting,
    AnswerDone,
    ChatFailed,
  ])
  .register(components, { id: 'AnswerEvent' })

const question = {
  type: 'request_user_action',
  stepId: 'answer',
  title: 'Refund 240',
  actions: [
    { id: 'approve', label: 'Approve' },
    { id: 'reject', label: 'Reject' },
  ],
  remark: 'optional',
  show: [{ label: 'amount', value: 240 }],
  call: { toolId: 'tool_refund', version: 1, args: { amount: 240 }, why: 'The chair arrived broken.' },
  id: 'main:answer#1~2',
  createdAt: '2026-01-05T09:30:01.410Z',
  expiresAt: null,
}

/** The answer in place of the usual one. */
export const WAITS = answer(
  'People are asked about a call of the agent first. A run continues the turn: answer its questions, then read the turn.',
  TurnWaits,
  {
    waits: example('A refund waits for a decision', {
      ...{ data: null, threadId: examples.thread.id, status: 'paused', runId: examples.turn.runId },
      ...{ turnId: examples.turn.id, pauseSignal: question, pauseSignals: [question] },
    }),
  },
  ['Location'],
)

/** The response of an answer, or of a turn that waits. */
export function responseOf<T extends object>(agentId: string, answer: T | Waiting) {
  if (!('turnId' in answer)) return { body: answer }
  return { status: 202, headers: { location: `/api/agents/${agentId}/turns/${answer.turnId}` }, body: answer }
}
