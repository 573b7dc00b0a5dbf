import { failureClass } from '../../telemetry/failure-classes'
import { count, observe } from '../../telemetry/measures'
import { classify, TakenOver } from '../flow/failure'
import type { StartedAttempt } from '../plan/types'

/** Counts one attempt of a step that does work. */
export async function countWork<T>({ type }: Pick<StartedAttempt, 'type'>, work: () => Promise<T>): Promise<T> {
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
  count('millrace_step_failures_total', { type, class: failureClass(code) })
}
