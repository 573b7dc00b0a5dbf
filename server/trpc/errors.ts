import { TRPCError } from '@trpc/server'
import { getHTTPStatusCodeFromError } from '@trpc/server/http'
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc'
import { isUnavailable } from '@/db/deadline'
import { AppError, ERRORS, type ErrorDetail } from '../errors'
import { log } from '../log'

type Code = ConstructorParameters<typeof TRPCError>[0]['code']

/** tRPC's name for each status our errors have. */
const BY_STATUS = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_SUPPORTED',
  409: 'CONFLICT',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  429: 'TOO_MANY_REQUESTS',
  431: 'BAD_REQUEST',
  500: 'INTERNAL_SERVER_ERROR',
  503: 'SERVICE_UNAVAILABLE',
} as const satisfies Record<(typeof ERRORS)[keyof typeof ERRORS]['status'], Code>

/** Turns an error of the product into a tRPC error; anything else is logged and hidden from callers. */
export function toTrpcError(error: TRPCError): TRPCError {
  const cause = error.cause
  if (cause instanceof AppError) {
    return new TRPCError({ code: BY_STATUS[cause.status], message: cause.message, cause })
  }
  if (isUnavailable(cause)) {
    const unavailable = new AppError('UNAVAILABLE', { cause })
    return new TRPCError({ code: 'SERVICE_UNAVAILABLE', message: unavailable.message, cause: unavailable })
  }
  return error
}

export interface VisibleError {
  code: string
  message: string
  details: ErrorDetail[]
  requestId: string
}

/** The parts of an error that leave the process: only an AppError's own message, never a stack. */
export function visibleError<S extends { code: number; data: { code: string; httpStatus: number; path?: string } }>(
  shape: S,
  thrown: TRPCError,
  requestId: string,
): { message: string; code: S['code']; data: S['data'] & { error: VisibleError } } {
  const { stack: _stack, ...data } = shape.data as S['data'] & { stack?: string }
  // Errors thrown by an event stream after it has started bypass the middleware; browsers reconnect on anything but a
  // 4xx.
  const error = toTrpcError(thrown)
  const visible = toVisible(error, requestId)
  const { code } = error
  return {
    code: TRPC_ERROR_CODES_BY_KEY[code],
    message: visible.message,
    data: { ...(data as S['data']), code, httpStatus: getHTTPStatusCodeFromError(error), error: visible },
  }
}

function toVisible({ cause, code, message }: TRPCError, requestId: string): VisibleError {
  if (cause instanceof AppError) return { code: cause.code, message: cause.message, details: cause.details, requestId }
  if (code === 'INTERNAL_SERVER_ERROR') {
    log().error({ err: cause, requestId }, 'request failed')
    return { code: 'INTERNAL', message: ERRORS.INTERNAL.message, details: [], requestId }
  }
  // tRPC's own refusals: an unknown procedure, a wrong method, invalid JSON.
  return { code: 'INVALID_INPUT', message: code === 'NOT_FOUND' ? message : 'Invalid input', details: [], requestId }
}
