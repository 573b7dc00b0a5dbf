import { isUnavailable } from '@/db/deadline'
import type { RetryPolicy } from '../definition/step-config'
import { UnresolvedReference } from '../definition/template'
import { AppError, StepFailure, TransientError } from '../errors'
import { RunStopped } from './running'

/** How a failed attempt looks to the run: what history says, and whether trying again may help. */
export interface Failure {
  code: string
  message: string
  transient: boolean
  retryAfterMs: number | null
  /** A fault of ours: the message is opaque and the cause belongs in the log. */
  internal: boolean
}

const CURVE_MS = [1_000, 5_000, 30_000, 120_000]
export const MAX_ATTEMPTS = CURVE_MS.length + 1
const LONGEST_RETRY_AFTER_MS = 15 * 60_000

export function classify(err: unknown): Failure {
  const base = { transient: false, retryAfterMs: null, internal: false }
  if (err instanceof TransientError)
    return { ...base, code: err.code, message: err.message, transient: true, retryAfterMs: err.retryAfterMs ?? null }
  if (err instanceof StepFailure) return { ...base, code: err.code, message: err.message }
  if (err instanceof AppError) return { ...base, code: err.code, message: err.message }
  if (err instanceof RunStopped) return { ...base, code: 'STOPPED', message: err.message }
  if (err instanceof UnresolvedReference) return { ...base, code: 'EXPRESSION_UNRESOLVED', message: err.message }
  if (isUnavailable(err)) return { ...base, code: 'UNAVAILABLE', message: 'The database was away.', transient: true }
  return { ...base, code: 'INTERNAL', message: 'The step failed unexpectedly.', internal: true }
}

/**
 * How long to wait before the next attempt, in milliseconds, or null when there is none.
 * @param attempt the attempt that failed, from 1
 * @param random from 0 up to 1; spreads the waits by 20 % to either side
 */
export function nextDelay(
  failure: Failure,
  attempt: number,
  policy: RetryPolicy | undefined,
  random: number,
): number | null {
  if (!failure.transient || attempt >= (policy?.maxAttempts ?? MAX_ATTEMPTS)) return null
  if (failure.retryAfterMs !== null) return Math.min(failure.retryAfterMs, LONGEST_RETRY_AFTER_MS)
  const base =
    policy?.initialDelayMs === undefined
      ? (CURVE_MS[attempt - 1] ?? 120_000)
      : grow(policy.initialDelayMs, attempt, policy)
  const capped = policy?.maxDelayMs === undefined ? base : Math.min(base, policy.maxDelayMs)
  return Math.round(capped * (0.8 + random * 0.4))
}

function grow(initialMs: number, attempt: number, policy: RetryPolicy): number {
  return policy.backoff === 'fixed' ? initialMs : Math.min(initialMs * 2 ** (attempt - 1), 86_400_000)
}
