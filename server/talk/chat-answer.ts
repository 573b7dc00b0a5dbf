import { toAppError } from '../agents/failed-turn'
import type { AnsweredTurn } from '../agents/journaled'
import type { ServiceContext } from '../context'
import type { TurnMetadata, Usage } from '../definition/agent'
import { AppError, ERRORS } from '../errors'

export type ChatAnswer = {
  message: string
  threadId: string
  usage: Usage
  metadata: TurnMetadata
}

export function chatAnswerOf({ threadId, answer: { text, metadata } }: AnsweredTurn): ChatAnswer {
  return { message: text, threadId, usage: metadata.usage, metadata }
}

/** A failure as an event of a stream has it. */
export function errorEvent(ctx: ServiceContext, thrown: unknown) {
  const err = toAppError(thrown)
  if (!(err instanceof AppError) || err.status >= 500) ctx.log.error({ err }, 'a streamed turn failed')
  if (!(err instanceof AppError)) return { code: 'INTERNAL', message: ERRORS.INTERNAL.message, details: [] }
  const { code, message, details } = err
  return { code, message, details }
}
