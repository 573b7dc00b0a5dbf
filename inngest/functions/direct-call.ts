/** A call by the SDK or by the embedded engine: what a function needs that keeps its state in Postgres. */
export interface DirectCall {
  event: { data: unknown }
  step: unknown
}

type RunStep = <T>(id: string, work: () => Promise<T>) => Promise<T>

/** What runs a step of the call. */
export function runStepOf({ step }: DirectCall): RunStep {
  return (step as { run: RunStep }).run
}
