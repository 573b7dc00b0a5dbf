import { RetryAfterError } from 'inngest'
import { isUnavailable } from '@/db/index'

/** A call by the SDK or by the embedded engine: the inputs of a function whose state is in Postgres. */
export interface DirectCall {
  event: { data: unknown }
  step: unknown
  /** Counted from 0. */
  attempt: number
}

type RunStep = <T>(id: string, work: () => Promise<T>) => Promise<T>

/** Most outages last seconds, and the engine's own delay is half a minute. */
const AGAIN_MS = 1_000
/** After this many attempts, the engine's own delays outlast a continuing outage. */
const MAX_SOON = 5

/** Runs a step of the call. A step that failed because of the database is retried once it is available. */
export function runStepOf({ step, attempt }: DirectCall): RunStep {
  const { run } = step as { run: RunStep }
  return (id, work) =>
    run(id, () =>
      work().catch((err: unknown) => {
        if (!isUnavailable(err) || attempt >= MAX_SOON) throw err
        throw new RetryAfterError('The database did not answer.', AGAIN_MS, { cause: err })
      }),
    )
}
