import type { ServiceContext } from '../context'
import type { TurnMetadata, UserMessage } from '../definition/agent'
import type { JsonObject } from '../definition/json'
import { AppError } from '../errors'
import { type ConverseOptions, converse, openTurn, requireAnswer } from './converse'
import type { LoadedAgent } from './find'
import type { AnsweredTurn } from './journaled'
import { MAX_MESSAGE } from './schema'

/** `metadata` beyond the documented fields: the provider and version that answered, and the cost. */
export interface Invocation {
  data: JsonObject
  threadId: string
  metadata: TurnMetadata
}

/**
 * Answers a message with data, for callers inside the service that need to know whether to retry a provider's failure.
 * Nobody is asked.
 * @throws ModelFailure, AppError as `invokeAgent`
 */
export async function answerWithData(
  ctx: ServiceContext,
  agent: LoadedAgent,
  input: UserMessage & { threadId?: string | null | undefined },
  options: Pick<ConverseOptions, 'signal' | 'onFailed' | 'budget'>,
): Promise<Invocation> {
  requireDataAnswers(agent)
  const { threadId, ...userMessage } = input
  const turn = await openTurn(ctx, agent, { userMessage, structured: true, threadId }, options)
  return invocationOf(requireAnswer(await converse(ctx, turn, options)))
}

export function invocationOf({ threadId, answer: { data, metadata } }: AnsweredTurn): Invocation {
  return { data: data ?? {}, threadId, metadata }
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
