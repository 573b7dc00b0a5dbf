import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { TurnMetadata, UserMessage } from '../definition/agent'
import { isJsonObject, type JsonObject } from '../definition/json'
import { AppError } from '../errors'
import { parseWhole } from '../parse'
import { wantedVersion } from '../versioned/versions'
import { type ConverseOptions, converse, openTurn } from './converse'
import { toAppError } from './failed-turn'
import { type LoadedAgent, loadAgent } from './find'
import { loadDraft } from './load-draft'
import { InvokeAgent, MAX_MESSAGE } from './schema'

/** `metadata` beyond the documented fields: the provider and version that answered, and the cost. */
export interface Invocation {
  data: JsonObject
  threadId: string
  metadata: TurnMetadata
}

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

/**
 * Like `invokeAgent`, for callers inside the service that need to know whether to retry a provider's failure.
 * @throws ModelFailure, and what `invokeAgent` throws
 */
export async function answerWithData(
  ctx: ServiceContext,
  agent: LoadedAgent,
  input: UserMessage & { threadId?: string | null | undefined },
  options: Pick<ConverseOptions<Invocation>, 'signal' | 'onFailed' | 'budget'>,
): Promise<Invocation> {
  requireDataAnswers(agent)
  // A repeated request whose turn was already saved gets the saved answer.
  const known = ctx.keyed?.recall<Invocation>()
  if (known) return known.result
  const turn = await openTurn(ctx, agent, input.threadId, options.signal)
  const { threadId: _threadId, ...userMessage } = input
  return converse(
    ctx,
    turn,
    { userMessage, structured: true },
    {
      ...options,
      answer: ({ data, metadata }) => ({ data: data ?? {}, threadId: turn.lease.threadId, metadata }),
    },
  )
}

/** @throws AppError AGENT_SUPERVISOR, AGENT_NO_STRUCTURED_OUTPUT */
export function requireDataAnswers({ config }: LoadedAgent): void {
  if (config.supervisor) throw new AppError('AGENT_SUPERVISOR')
  if (config.outputSchema === null) throw new AppError('AGENT_NO_STRUCTURED_OUTPUT')
}

/** @throws AppError MESSAGE_REQUIRED, INVALID_INPUT */
export function requireMessage(message: unknown): string {
  if (typeof message !== 'string' || message.trim() === '') throw new AppError('MESSAGE_REQUIRED')
  if (message.length <= MAX_MESSAGE) return message
  throw new AppError('INVALID_INPUT', {
    details: [{ path: 'message', message: `is longer than ${MAX_MESSAGE} characters` }],
  })
}
