import type { ServiceContext } from '../context'
import type { TurnMetadata, UserMessage } from '../definition/agent'
import type { JsonObject } from '../definition/json'
import { AppError } from '../errors'
import { type ConverseOptions, converse, openTurn } from './converse'
import type { LoadedAgent } from './find'
import { MAX_MESSAGE } from './schema'

/** `metadata` beyond the documented fields: the provider and version that answered, and the cost. */
export interface Invocation {
  data: JsonObject
  threadId: string
  metadata: TurnMetadata
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
