import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { TurnMetadata } from '../definition/agent'
import { isJsonObject, type JsonObject } from '../definition/json'
import { AppError } from '../errors'
import { parseWhole } from '../parse'
import { wantedVersion } from '../versioned/versions'
import { type ConverseOptions, converse, openTurn } from './converse'
import { toAppError } from './failed-turn'
import { type LoadedAgent, loadAgent } from './find'
import { loadDraft } from './load-draft'
import { InvokeAgent, MAX_MESSAGE } from './schema'

/** `metadata` beyond the documented fields: which provider and version answered, and at what cost. */
export interface Invocation {
  data: JsonObject
  threadId: string
  metadata: TurnMetadata
}

/**
 * Answers a message with data that matches the agent's output schema, in a new thread or an existing one. When the
 * signal fires, the model call is aborted and the thread stays as it was.
 * @throws AppError MESSAGE_REQUIRED, INVALID_INPUT, AGENT_NOT_FOUND, AGENT_NO_STRUCTURED_OUTPUT, AGENT_SUPERVISOR,
 * THREAD_NOT_FOUND, THREAD_BUSY, OUTPUT_SCHEMA_MISMATCH, MODEL_ERROR
 */
export async function invokeAgent(
  ctx: ServiceContext,
  input: { agentId: string; body: unknown },
  signal: AbortSignal,
): Promise<Invocation> {
  authorize(ctx, 'agent:invoke')
  const body = isJsonObject(input.body) ? input.body : {}
  const message = requireMessage(body.message)
  // What the agent cannot do comes before whatever else is wrong.
  const agent = await loadAgent(ctx, input.agentId, wantedVersion(body.version ?? undefined))
  requireDataAnswers(agent)
  const { dataContext, threadId } = parseWhole(InvokeAgent, body, ['message'])
  return answered(ctx, agent, { message, dataContext, threadId }, signal)
}

/**
 * As `invokeAgent`, for an agent as somebody is editing it, saved or not.
 * @param input.body `draft` has the body of an update
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
 * As `invokeAgent`, for callers inside the service that need to know whether a provider's failure is worth a retry.
 * @param options.log gets what scripts of the agent's tools write to their console
 * @throws ModelFailure, and what `invokeAgent` throws
 */
export async function answerWithData(
  ctx: ServiceContext,
  agent: LoadedAgent,
  input: { message: string; dataContext: JsonObject; threadId?: string | null | undefined },
  options: Pick<ConverseOptions<Invocation>, 'signal' | 'log' | 'idempotencyKey' | 'runId' | 'onFailed' | 'budget'>,
): Promise<Invocation> {
  requireDataAnswers(agent)
  // A repeated request whose turn was already saved gets the saved answer.
  const known = ctx.keyed?.recall<Invocation>()
  if (known) return known.result
  const turn = await openTurn(ctx, agent, input.threadId, options.signal)
  const { message, dataContext } = input
  return converse(
    ctx,
    turn,
    { userMessage: { message, dataContext }, structured: true },
    {
      ...options,
      answer: ({ data, metadata }) => ({ data: data ?? {}, threadId: turn.lease.threadId, metadata }),
    },
  )
}

/** @throws AppError AGENT_SUPERVISOR, AGENT_NO_STRUCTURED_OUTPUT */
function requireDataAnswers({ config }: LoadedAgent): void {
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
