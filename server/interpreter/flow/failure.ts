import { isUnavailable, sqlState } from '@/db/deadline'
import type { StepUsage } from '../../definition/agent'
import { ExpressionFailure } from '../../definition/expression/evaluate'
import { cutText, TooDeep, toStorableJson } from '../../definition/json'
import { MAX_ERROR_CHARS } from '../../definition/limits'
import type { RetryPolicy } from '../../definition/step-config'
import { TemplateTooLarge, UnresolvedReference } from '../../definition/template'
import { AppError, Busy, StepFailure, TransientError } from '../../errors'

/** The run of a running step was cancelled, terminated or ended some other way. */
export class RunStopped extends Error {
  override name = 'RunStopped'
  constructor(
    message: string,
    /** An agent's usage before it was stopped. */
    readonly usage: StepUsage | null = null,
  ) {
    super(message)
  }
}

/** The attempt failed and another one is due: asks the engine to call again. */
export class AttemptFailed extends Error {
  override name = 'AttemptFailed'
  constructor(
    readonly delayMs: number,
    message = 'The attempt failed; another one follows.',
  ) {
    super(message)
  }
}

const AFTER_TAKEOVER_MS = 1_000

/** Another process has since claimed an attempt. The next call finds what it recorded, or claims the next attempt. */
export class TakenOver extends AttemptFailed {
  override name = 'TakenOver'
  constructor() {
    super(AFTER_TAKEOVER_MS, 'The step was taken over by another process.')
  }
}

/** A failed attempt as the run sees it: what history shows, and whether another attempt may help. */
export interface Failure {
  code: string
  message: string
  transient: boolean
  retryAfterMs: number | null
  /** The step never started because no slot was free; this does not count as an attempt. */
  busy: boolean
  /** An agent's usage before it failed. */
  usage: StepUsage | null
  /** A bug of ours: the message is opaque and the cause belongs in the log. */
  internal: boolean
}

const CURVE_MS = [1_000, 5_000, 30_000, 120_000]
export const MAX_ATTEMPTS = CURVE_MS.length + 1
const LONGEST_RETRY_AFTER_MS = 15 * 60_000

export function classify(err: unknown): Failure {
  const failure = failureOf(err)
  return { ...failure, message: toStorableJson(cutText(failure.message, MAX_ERROR_CHARS)) }
}

function failureOf(err: unknown): Failure {
  const base = { transient: false, retryAfterMs: null, busy: false, usage: null, internal: false }
  if (err instanceof TransientError) {
    const { code, message, usage, retryAfterMs = null } = err
    return { ...base, code, message, usage, transient: true, retryAfterMs }
  }
  if (err instanceof StepFailure) return { ...base, code: err.code, message: err.message, usage: err.usage }
  if (err instanceof Busy) {
    const { message, retryAfterMs } = err
    return { ...base, code: err.code, message, transient: true, retryAfterMs, busy: true }
  }
  if (err instanceof AppError) return { ...base, code: err.code, message: err.message }
  if (err instanceof RunStopped) return { ...base, code: 'STOPPED', message: err.message, usage: err.usage }
  if (err instanceof UnresolvedReference) return { ...base, code: 'EXPRESSION_UNRESOLVED', message: err.message }
  if (err instanceof ExpressionFailure) return { ...base, code: 'EXPRESSION_FAILED', message: err.message }
  if (err instanceof TemplateTooLarge) return { ...base, code: 'CONFIG_TOO_LARGE', message: err.message }
  if (isTooLarge(err)) {
    const message = err instanceof TooDeep ? err.message : 'A value of the step is too large, or nested too deeply.'
    return { ...base, code: 'VALUE_TOO_LARGE', message }
  }
  if (isUnavailable(err))
    return { ...base, code: 'UNAVAILABLE', message: 'The database was not available.', transient: true }
  return { ...base, code: 'INTERNAL', message: 'The step failed unexpectedly.', internal: true }
}

/** A limit of the language or of Postgres, which every further attempt would also hit. */
function isTooLarge(err: unknown): boolean {
  if (err instanceof RangeError) return true
  // A full notification queue has the same code, but it drains.
  return sqlState(err)?.startsWith('54') === true && !String(err instanceof Error && err.cause).includes('NOTIFY')
}

/** A failure outside a step's own work that must end the run, because no attempt to record it can succeed. */
export function permanentFailure(err: unknown): { code: string; message: string } | null {
  if (err instanceof StepFailure || isTooLarge(err)) return classify(err)
  if (!sqlState(err)?.startsWith('22')) return null
  return { code: 'VALUE_REFUSED', message: 'The database cannot store a value of this step.' }
}

/**
 * The delay before the next attempt in milliseconds; null if no attempt follows.
 * @param tries the attempts that count, with the one that failed
 * @param random from 0 up to 1; varies the delay by up to 20 % either way
 */
export function nextDelay(
  failure: Failure,
  tries: number,
  policy: RetryPolicy | undefined,
  random: number,
): number | null {
  const isLast = !failure.busy && tries >= (policy?.maxAttempts ?? MAX_ATTEMPTS)
  if (!failure.transient || isLast) return null
  if (failure.retryAfterMs !== null) return Math.min(failure.retryAfterMs, LONGEST_RETRY_AFTER_MS)
  const base =
    policy?.initialDelayMs === undefined ? (CURVE_MS[tries - 1] ?? 120_000) : grow(policy.initialDelayMs, tries, policy)
  const capped = policy?.maxDelayMs === undefined ? base : Math.min(base, policy.maxDelayMs)
  return Math.round(capped * (0.8 + random * 0.4))
}

function grow(initialMs: number, attempt: number, policy: RetryPolicy): number {
  return policy.backoff === 'fixed' ? initialMs : Math.min(initialMs * 2 ** (attempt - 1), 86_400_000)
}
