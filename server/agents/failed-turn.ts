import type { FailedTurn } from '../definition/agent'
import { AppError, type ErrorDetail, StepFailure } from '../errors'
import { oddEnd } from '../models/answer-end'
import { ModelFailure } from '../models/failure'
import type { Budget } from './budget'

/** The usage of a failed turn; null if it failed before its model was known. */
export function failedTurn(err: unknown, { soFar, called }: Budget, threadId?: string): FailedTurn | null {
  if (!soFar) return null
  const failure = err instanceof ModelFailure ? err : null
  return {
    ...soFar(),
    ...(failure?.answer ? oddEnd(failure.answer) : {}),
    ...(threadId === undefined ? {} : { threadId }),
    retryable: failure?.transient ?? false,
    ...(failure?.status == null ? {} : { status: failure.status }),
    ...(failure?.answer?.refusal == null ? {} : { refusal: failure.answer.refusal }),
    ...(called.length > 0 ? { calls: called } : {}),
  }
}

/** Attaches the turn's usage to the error, which callers pass on. */
export function withTurn(err: unknown, turn: FailedTurn | null): unknown {
  if (!turn) return err
  if (err instanceof ModelFailure) err.turn = turn
  if (!(err instanceof AppError) || err.code !== 'OUTPUT_SCHEMA_MISMATCH') return err
  const message = `${turn.provider} gave another answer, for ${turn.usage.totalTokens.toLocaleString('en')} tokens`
  return new AppError(err.code, { details: [...err.details, { message, ...turn }], cause: err })
}

/** Turns a failure of a model, or of a message's files, into the error callers see. */
export function toAppError(err: unknown): unknown {
  if (err instanceof StepFailure && err.code === 'FILE_NOT_SUPPORTED')
    return new AppError('FILE_NOT_SUPPORTED', { details: [{ path: 'files', message: err.message }], cause: err })
  if (!(err instanceof ModelFailure)) return err
  const { message, provider, turn, transient, status, answer, code, retryAfterMs } = err
  const detail: ErrorDetail = {
    message,
    ...turn,
    provider,
    retryable: transient,
    ...(status === null ? {} : { status }),
    ...(answer === null ? {} : { finishReason: answer.finishReason }),
    ...(answer?.refusal == null ? {} : { refusal: answer.refusal }),
    ...(code === 'MODEL_ERROR' ? {} : { code }),
  }
  return new AppError('MODEL_ERROR', {
    details: [detail],
    cause: err,
    ...(retryAfterMs === null
      ? {}
      : { headers: { 'retry-after': String(Math.min(3600, Math.ceil(retryAfterMs / 1000))) } }),
  })
}
