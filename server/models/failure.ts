import { APICallError, ToolChoiceViolationError } from 'ai'
import type { FailedTurn, FailureKind } from '../definition/agent'
import { OutboundFailure } from '../net/outbound-failure'
import type { AnswerEnd } from './answer-end'

/** A provider returned no usable answer. The message names the provider and never contains its response or a key. */
export class ModelFailure extends Error {
  override name = 'ModelFailure'
  constructor(
    readonly provider: string,
    problem: string,
    options: {
      transient?: boolean
      retryAfterMs?: number | null
      code?: ModelFailure['code']
      status?: number
      answer?: AnswerEnd
      kind?: FailureKind | null
    } = {},
  ) {
    super(`${provider} ${problem}`)
    this.transient = options.transient ?? false
    this.retryAfterMs = options.retryAfterMs ?? null
    this.code = options.code ?? 'MODEL_ERROR'
    this.status = options.status ?? null
    this.answer = options.answer ?? null
    this.kind = options.kind ?? null
  }
  /** Whether the same call may succeed later. */
  readonly transient: boolean
  /** The delay the provider asked for. */
  readonly retryAfterMs: number | null
  /** The error code of a run's step. */
  readonly code: 'MODEL_ERROR' | 'SECRET_NOT_ALLOWED'
  /** The provider's HTTP status, if that is the reason. */
  readonly status: number | null
  /** How the answer ended, if any. */
  readonly answer: AnswerEnd | null
  /** Why another model may answer instead; null if it would fail, too. */
  readonly kind: FailureKind | null
  /** The turn's usage so far, once known. */
  turn: FailedTurn | null = null
}

const TRANSIENT = new Set([408, 409, 425, 429])

/**
 * Turns a failed call into a ModelFailure. Omits the provider's own message, because some repeat the key they received.
 */
export function toModelFailure(err: unknown, provider: string): ModelFailure {
  if (err instanceof ModelFailure) return err
  const outbound = causes(err).find((cause) => cause instanceof OutboundFailure)
  if (outbound) {
    const { transient, code } = outbound
    return new ModelFailure(provider, `could not be used. ${outbound.message}`, {
      transient,
      ...(code === 'SECRET_NOT_ALLOWED' ? { code, kind: 'key' } : { kind: 'unavailable' }),
    })
  }
  if (ToolChoiceViolationError.isInstance(err))
    return new ModelFailure(provider, 'kept calling tools although it had to answer')
  if (!APICallError.isInstance(err)) return new ModelFailure(provider, 'gave an unreadable answer')
  const status = err.statusCode
  if (status === undefined)
    return new ModelFailure(provider, 'could not be reached', { transient: true, kind: 'unavailable' })
  if (status < 400) return new ModelFailure(provider, 'gave an unreadable answer')
  const transient = status >= 500 || TRANSIENT.has(status)
  const why = status === 401 || status === 403 ? ': the key was refused' : ''
  const retryAfterMs = retryAfter(err.responseHeaders ?? {})
  return new ModelFailure(provider, `answered with status ${status}${why}`, {
    transient,
    retryAfterMs,
    status,
    kind: kindOf(status, err.responseBody ?? ''),
  })
}

/** How providers say that a prompt does not fit into the model. */
const TOO_LONG = /context_length_exceeded|prompt is too long|exceeds? the (maximum|context)|maximum context length/i

function kindOf(status: number, body: string): FailureKind | null {
  if (status === 429) return 'rate-limited'
  if (status >= 500 || TRANSIENT.has(status)) return 'unavailable'
  if (status === 401 || status === 403) return 'key'
  return status === 413 || (status === 400 && TOO_LONG.test(body)) ? 'too-long' : null
}

function retryAfter(headers: Record<string, string>): number | null {
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN)
  if (Number.isFinite(ms) && ms >= 0) return ms
  const text = headers['retry-after']
  if (text === undefined) return null
  const seconds = Number(text)
  if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1000
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now())
}

function causes(err: unknown): unknown[] {
  const found: unknown[] = []
  for (let at = err; at instanceof Error && found.length < 5; at = at.cause) found.push(at)
  return found
}
