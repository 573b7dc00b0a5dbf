import { answerWithData, type Invocation, requireDataAnswers, requireMessage } from '../agents/answer-with-data'
import { toAppError } from '../agents/failed-turn'
import { type LoadedAgent, loadAgent } from '../agents/find'
import { loadDraft } from '../agents/load-draft'
import { InvokeAgent } from '../agents/schema'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { isJsonObject } from '../definition/json'
import { parseWhole } from '../parse'
import { wantedVersion } from '../versioned/versions'

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
): Promise<Invocation> {
  authorize(ctx, 'agent:invoke')
  const body = isJsonObject(input.body) ? input.body : {}
  const message = requireMessage(body.message)
  // An agent that cannot answer with data is reported before other errors.
  const agent = await loadAgent(ctx, input.agentId, wantedVersion(body.version ?? undefined))
  requireDataAnswers(agent)
  const { dataContext, threadId } = parseWhole(InvokeAgent, body, ['message'])
  return answered(ctx, agent, { message, dataContext, threadId }, signal)
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
): Promise<Invocation> {
  authorize(ctx, 'agent:invoke')
  const body = isJsonObject(input.body) ? input.body : {}
  const message = requireMessage(body.message)
  const { dataContext, threadId } = parseWhole(InvokeAgent, body, ['message', 'draft'])
  const agent = await loadDraft(ctx, input.agentId, body.draft)
  return answered(ctx, agent, { message, dataContext, threadId }, signal)
}

async function answered(
  ctx: ServiceContext,
  agent: LoadedAgent,
  input: Parameters<typeof answerWithData>[2],
  signal: AbortSignal,
): Promise<Invocation> {
  try {
    return await answerWithData(ctx, agent, input, { signal })
  } catch (err) {
    throw toAppError(err)
  }
}
