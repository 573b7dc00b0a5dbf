import { type Invocation, invocationOf, requireDataAnswers, requireMessage } from '../agents/answer-with-data'
import { type Asking, knownTurn } from '../agents/converse'
import { toAppError } from '../agents/failed-turn'
import { type LoadedAgent, loadAgent } from '../agents/find'
import type { KnownTurn } from '../agents/journal/read'
import { loadDraft } from '../agents/load-draft'
import { InvokeAgent } from '../agents/schema'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { UserMessage } from '../definition/agent'
import { isJsonObject } from '../definition/json'
import { parseWhole } from '../parse'
import { wantedVersion } from '../versioned/versions'
import type { Waiting } from './await-run'
import { answerTo } from './turn'

/**
 * Answers a message with data that matches the agent's output schema, in a new or an existing thread. When the signal
 * fires, the model call is aborted and the thread stays as it was.
 * @throws AppError MESSAGE_REQUIRED, INVALID_INPUT, AGENT_NOT_FOUND, AGENT_NO_STRUCTURED_OUTPUT, AGENT_SUPERVISOR,
 * THREAD_NOT_FOUND, THREAD_BUSY, THREAD_WAITING, OUTPUT_SCHEMA_MISMATCH, MODEL_ERROR
 */
export async function invokeAgent(
  ctx: ServiceContext,
  input: { agentId: string; body: unknown },
  signal: AbortSignal,
): Promise<Invocation | Waiting> {
  authorize(ctx, 'agent:invoke')
  const body = isJsonObject(input.body) ? input.body : {}
  const message = requireMessage(body.message)
  const known = await knownTurn(ctx)
  // An agent that cannot answer with data is reported before other errors.
  const agent = await loadAgent(ctx, input.agentId, known?.turn.version ?? wantedVersion(body.version ?? undefined))
  requireDataAnswers(agent)
  const { dataContext, threadId } = parseWhole(InvokeAgent, body, ['message'])
  return answered(ctx, agent, known, { message, dataContext, threadId }, signal)
}

/**
 * Like `invokeAgent`, for an agent as it is being edited, saved or not.
 * @param input.body `draft` is the body of an update
 * @throws AppError AGENT_ARCHIVED, and what `invokeAgent` throws
 */
export async function invokeDraftAgent(
  ctx: ServiceContext,
  input: { agentId: string; body: unknown },
  signal: AbortSignal,
): Promise<Invocation | Waiting> {
  authorize(ctx, 'agent:invoke')
  const body = isJsonObject(input.body) ? input.body : {}
  const message = requireMessage(body.message)
  const { dataContext, threadId } = parseWhole(InvokeAgent, body, ['message', 'draft'])
  const agent = await loadDraft(ctx, input.agentId, body.draft)
  requireDataAnswers(agent)
  return answered(ctx, agent, null, { message, dataContext, threadId }, signal)
}

async function answered(
  ctx: ServiceContext,
  agent: LoadedAgent,
  known: KnownTurn | null,
  { threadId, ...userMessage }: UserMessage & Pick<Asking, 'threadId'>,
  signal: AbortSignal,
): Promise<Invocation | Waiting> {
  try {
    const answer = await answerTo(ctx, agent, { userMessage, structured: true, threadId }, { known, signal })
    return 'answer' in answer ? invocationOf(answer) : answer
  } catch (err) {
    throw toAppError(err)
  }
}
