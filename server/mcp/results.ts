import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { isUnavailable } from '@/db/deadline'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import type { PresentedRun } from '../runs/present'

/** An error of the protocol, as opposed to a tool's. The client sees the message. */
export class ProtocolError extends Error {
  override name = 'ProtocolError'
  constructor(
    readonly code: number,
    message: string,
    readonly data?: Record<string, unknown>,
  ) {
    super(message)
  }
}

export const INVALID_PARAMS = -32602
const INTERNAL_ERROR = -32603
export const RESOURCE_NOT_FOUND = -32002

/** A tool's result as data and as text, because not every client shows data to its model. */
export function result(data: object, isError = false): CallToolResult {
  const text = JSON.stringify(data)
  return {
    content: [{ type: 'text', text }],
    structuredContent: JSON.parse(text) as Record<string, unknown>,
    ...(isError ? { isError } : {}),
  }
}

export function failed(ctx: ServiceContext, thrown: unknown): CallToolResult {
  const { code, message, details } = asAppError(ctx, thrown)
  return result({ error: { code, message, details } }, true)
}

/** The answer of a list or a resource if a verb throws. */
export function asProtocolError(ctx: ServiceContext, thrown: unknown): ProtocolError {
  if (thrown instanceof ProtocolError) return thrown
  const { code, status, message, details } = asAppError(ctx, thrown)
  const number = status === 404 ? RESOURCE_NOT_FOUND : status < 500 ? INVALID_PARAMS : INTERNAL_ERROR
  return new ProtocolError(number, message, { code, details })
}

/** Only an AppError's own message reaches the caller. */
function asAppError({ log }: ServiceContext, err: unknown): AppError {
  if (err instanceof AppError) {
    if (err.status >= 500)
      log[err.headers['retry-after'] === undefined ? 'error' : 'warn']({ err }, 'an MCP call failed')
    return err
  }
  if (isUnavailable(err)) {
    log.warn({ err }, 'database unavailable')
    return new AppError('UNAVAILABLE')
  }
  log.error({ err }, 'an MCP call failed')
  return new AppError('INTERNAL')
}

/** A run as a model needs it: its state, its open pauses and its result, without its history. */
export function outlineOf(run: PresentedRun) {
  const { runId, workflowId, workflowName, status, outcome, pauseSignals, result, error, startTime, endTime } = run
  const ended = endTime === undefined ? {} : { endTime }
  return { runId, workflowId, workflowName, status, outcome, pauses: pauseSignals, result, error, startTime, ...ended }
}
