import { RetryAfterError } from 'inngest'
import { isUnavailable } from '@/db/index'

/** A call by the SDK or by the embedded engine: what a function needs that keeps its state in Postgres. */
export interface DirectCall {
  event: { data: unknown }
  step: unknown
  /** From 0. */
  attempt: number
}

type RunStep = <T>(id: string, work: () => Promise<T>) => Promise<T>

/** An outage is mostly a matter of seconds, and the engine's own delay of half a minute. */
const AGAIN_MS = 1_000
/** After so many of these, the engine's own delays outlast an outage that goes on. */
const MAX_SOON = 5

/** What runs a step of the call. A step that the database failed is tried again once it can be. */
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
