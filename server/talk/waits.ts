import { z } from 'zod'
import * as examples from '../agents/examples'
import { component } from '../definition/component'
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
