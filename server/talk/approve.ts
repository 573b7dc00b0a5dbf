import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { agentTurns } from '@/db/schema/turns'
import { type Invocation, invocationOf } from '../agents/answer-with-data'
import { toAppError } from '../agents/failed-turn'
import { requireOpenThread } from '../agents/thread'
import { authorize } from '../auth/policy'
import { beyondReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import { AGENT_TURN } from '../definition/agent-turn'
import { AnyJson } from '../definition/any-json'
import { APPROVE, REJECT } from '../definition/approval'
import { component } from '../definition/component'
import { AppError } from '../errors'
import { mark } from '../interpreter/index'
import { parseInput } from '../parse'
import { questionIdOf } from '../run-store/names'
import { resumeRun } from '../runs/resume'
import { AnsweredBy } from '../runs/schema'
import { awaitAnswer, type Waiting } from './await-run'
import { type ChatAnswer, chatAnswerOf } from './chat-answer'

const Approval = component('Approval', {
  approvalId: z
    .string()
    .regex(/^trn_[\w-]{1,76}\.[\d.]{1,40}$/, 'is not the id of an approval')
    .describe('The turn and the number of the call: `turnId`, a dot, and what follows `~` in the id of the pause.'),
  approved: z.boolean().describe('Whether the call is made.'),
  reason: z.string().trim().min(1).max(10_000).optional().describe('For the agent, if the call is rejected.'),
  args: z.record(z.string(), AnyJson).optional().describe('Arguments that are changed, if they may be.'),
})
type Approval = z.infer<typeof Approval>

const approvals = z.array(Approval).min(1).max(20).describe('The answers, all for the same turn.')
const answeredBy = AnsweredBy.describe('Whom an API key answers for; by default the key itself.')
export const Approvals = component('Approvals', { approvals, answeredBy })

/** The same in a chat. */
export const ChatApprovals = component('ChatApprovals', {
  agentId: z.string().describe('The agent.'),
  threadId: z.string().describe('The thread that waits.'),
  approvals,
})

interface Place {
  agentId: string
  threadId: string
  /** Only a turn of a chat. */
  chat?: boolean
}

/**
 * Answers questions about calls of the turn that waits in a thread, and returns what the request that began it would have.
 * @throws AppError THREAD_NOT_FOUND, RUN_NOT_PAUSED, INVALID_INPUT, and as `resumeRun`
 */
export async function answerApprovals(
  ctx: ServiceContext,
  { body, ...place }: Place & { body: unknown },
  signal: AbortSignal,
): Promise<Invocation | ChatAnswer | Waiting> {
  authorize(ctx, 'agent:invoke')
  const { approvals, answeredBy } = parseInput(Approvals, body)
  const since = mark()
  const { runId, structured } = await decide(ctx, place, approvals, answeredBy)
  try {
    const answer = await awaitAnswer(ctx, runId, signal, since)
    if (!('answer' in answer)) return answer
    return structured ? invocationOf(answer) : chatAnswerOf(answer)
  } catch (err) {
    throw toAppError(err)
  }
}

/** Gives the answers one by one: those before one that is refused count. */
export async function decide(
  ctx: ServiceContext,
  place: Place,
  approvals: readonly Approval[],
  answeredBy?: string | undefined,
) {
  await requireOpenThread(ctx, place.agentId, place.threadId)
  const [first = ''] = approvals.map(({ approvalId }) => turnIn(approvalId))
  if (approvals.some(({ approvalId }) => turnIn(approvalId) !== first))
    throw new AppError('INVALID_INPUT', { details: [{ path: 'approvals', message: 'must be of one turn' }] })
  const turn = await waitingTurn(ctx, place, first)
  for (const one of approvals)
    await resumeRun(beyondReach(ctx), {
      runId: turn.runId,
      body: { ...answerOf(one), ...(answeredBy === undefined ? {} : { answeredBy }) },
    })
  return turn
}

const turnIn = (approvalId: string) => approvalId.slice(0, approvalId.indexOf('.'))

async function waitingTurn({ db, tenantId }: ServiceContext, { agentId, threadId, chat }: Place, turnId: string) {
  const { runId, request } = agentTurns
  const [turn] = await db
    .select({ runId, request })
    .from(agentTurns)
    .where(
      and(
        ...[eq(agentTurns.tenantId, tenantId), eq(agentTurns.id, turnId)],
        ...[eq(agentTurns.agentId, agentId), eq(agentTurns.threadId, threadId)],
      ),
    )
  if (!turn?.runId || !turn.request) throw new AppError('RUN_NOT_PAUSED')
  const { structured } = turn.request
  if (chat && structured) {
    const message = 'was begun by an invocation: send the approvals to the thread'
    throw new AppError('INVALID_INPUT', { details: [{ path: 'threadId', message }] })
  }
  return { turnId, runId: turn.runId, structured }
}

function answerOf({ approvalId, approved, reason, args }: Approval) {
  const { branch, stepId, visit } = AGENT_TURN
  return {
    type: 'request_user_action',
    actionId: approved ? APPROVE : REJECT,
    pauseId: questionIdOf(branch, { stepId, visit }, approvalId.slice(approvalId.indexOf('.') + 1)),
    ...(args ? { data: args } : {}),
    ...(reason === undefined ? {} : { remark: reason }),
  }
}
