import { now } from '../../clock'
import { traced } from '../../telemetry/traces'
import type { StartedAttempt } from '../plan/types'

/** Steps of an older run have traces of their own: no tracing backend keeps a trace open for as long as people take. */
const SAME_TRACE_MS = 60 * 60_000

/** Runs an attempt of a step as a span: of the trace of the run's start, or linked to it. */
export function traceWork<T>(begun: StartedAttempt, work: () => Promise<T>): Promise<T> {
  return traced(() => {
    const { run } = begun.state
    const isYoung = now().getTime() - run.startTime.getTime() < SAME_TRACE_MS
    return {
      name: `step ${begun.type.type}`,
      attributes: {
        'millrace.tenant.id': run.tenantId,
        'millrace.workflow.id': run.workflowId,
        'millrace.run.id': run.id,
        'millrace.step.id': begun.at.stepId,
        'millrace.step.visit': begun.at.visit,
        'millrace.step.attempt': begun.attempt,
      },
      ...(isYoung ? { parent: run.traceparent } : { parent: null, link: run.traceparent }),
    }
  }, work)
}
