import { count, observe } from '../measures'
import { TakenOver } from './attempt-failed'
import type { Begun } from './plan'
import { classify } from './retry'

/**
 * The codes that are counted by their own name. Tools and `fail-flow` may have any others, and a class has to be one of
 * few.
 */
const CLASSES = new Set([
  ...['TRANSIENT', 'HTTP_ERROR', 'CONNECTION_ERROR', 'BLOCKED_HOST', 'SECRET_MISSING', 'SECRET_NOT_ALLOWED'],
  ...['EXECUTION_ERROR', 'MODEL_ERROR', 'TOOL_NOT_FOUND', 'AGENT_NOT_FOUND', 'THREAD_BUSY', 'THREAD_NOT_FOUND'],
  ...['INVALID_INPUT', 'INVALID_CONFIG', 'OUTPUT_INVALID', 'OUTPUT_SCHEMA_MISMATCH', 'EXPRESSION_UNRESOLVED'],
  ...['EXPRESSION_FAILED', 'CONFIG_TOO_LARGE', 'OUTPUT_TOO_LARGE', 'DATA_TOO_LARGE', 'VALUE_TOO_LARGE'],
  ...['CLEANUP_TIMED_OUT', 'STOPPED', 'UNAVAILABLE', 'INTERNAL'],
])

/** Counts one attempt of a step that does work. */
export async function countWork<T>({ type }: Pick<Begun, 'type'>, work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  const took = (result: 'ok' | 'failed') =>
    observe('millrace_step_duration_seconds', { type: type.type, result }, (performance.now() - began) / 1_000)
  try {
    const output = await work()
    took('ok')
    return output
  } catch (err) {
    countFailure(type.type, err, () => took('failed'))
    throw err
  }
}

function countFailure(type: string, err: unknown, took: () => void): void {
  // Another process makes the attempt, and counts it.
  if (err instanceof TakenOver) return
  const { code, busy } = classify(err)
  // It never began.
  if (busy) {
    count('millrace_step_busy_total', { type })
    return
  }
  took()
  count('millrace_step_failures_total', { type, class: CLASSES.has(code) ? code : 'OTHER' })
}
