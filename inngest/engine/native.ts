import { createHash } from 'node:crypto'
import { parseRetryAfter } from './backoff'
import type { Outcome } from './call'
import { plainError } from './call'
import type { Claim } from './context'
import { type EngineEvent, LARGEST_OUTPUT, MOST_STEPS, type StepResult } from './protocol'
import type { NativeHandler } from './types'

/** The outcome of a native call: a response as from the SDK, or a return to the SDK with the results so far. */
export type NativeOutcome = Outcome | { kind: 'back'; steps: StepResult[] }

type Work = (...input: unknown[]) => unknown

/**
 * Calls a function in this process without the SDK's protocol: its steps run one after the other, and their results
 * stay in memory. That suits functions whose steps can be repeated, because a process that dies takes the results with
 * it. If the function asks for anything else (waits, sleeps, parallel steps), the call returns to the SDK, which gets
 * the results so far. Each step waits until no promise is left to settle, so that everything a function asks for at once is
 * known before anything runs.
 * @param leaving whether the process is stopping, which ends the call at the next step
 */
export function callNatively(
  handler: NativeHandler,
  claim: Claim,
  options: { signal: AbortSignal; leaving: () => boolean; now: () => Date },
): Promise<NativeOutcome> {
  const done: Done[] = []
  const seen = new Map<string, number>()
  const forever = new Promise<never>(() => {})
  const { promise, resolve } = settled<NativeOutcome>()
  let over = false
  let asked = 0
  let running = false
  // The first step may have been begun with the run itself.
  let reserved = true

  const end = (outcome: NativeOutcome) => {
    over = true
    resolve(outcome)
  }
  const giveBack = () => {
    asked++
    // A step that is running is recorded first.
    if (!over && !running) end({ kind: 'back', steps: resultsOf(done) })
    return forever
  }

  const promiseNext = () => {
    reserved = true
  }

  async function run(id: string | { id: string }, work: Work, ...input: unknown[]): Promise<unknown> {
    if (over) return forever
    const mine = ++asked
    const name = stepName(typeof id === 'string' ? id : id.id, seen)
    await new Promise<void>((next) => process.nextTick(next))
    const { signal, leaving, now } = options
    if (over || running) return forever
    if (signal.aborted) {
      end({ kind: 'stale' })
      return forever
    }
    if (asked !== mine || (leaving() && !reserved) || done.length >= MOST_STEPS) return giveBack()
    running = true
    reserved = false
    try {
      const value = JSON.stringify({ data: (await work(...input)) ?? null })
      if (value.length > LARGEST_OUTPUT)
        throw Object.assign(new Error('The result of a step is larger than 4 MB'), FINAL)
      done.push({ name, value })
      if (asked === mine) return (JSON.parse(value) as { data: unknown }).data
    } catch (error) {
      end({
        kind: 'ops',
        ops: [...opsOf(resultsOf(done)), { id: stepId(name), op: 'StepError', error: thrown(error) }],
        ...retryOf(error, now),
      })
      return forever
    } finally {
      running = false
    }
    return giveBack()
  }

  const step = new Proxy({ run } as Record<string, unknown>, {
    // A step that is awaited by mistake must not look like a promise.
    get: (own, name) => (name === 'then' ? undefined : (own[String(name)] ?? elsewhere(giveBack))),
  })
  const event = JSON.parse(claim.event) as EngineEvent
  Promise.resolve()
    .then(() =>
      handler({
        event,
        step,
        runId: claim.runId,
        attempt: claim.attempt,
        leaving: options.leaving,
        promise: promiseNext,
      }),
    )
    .then(
      (output) => over || end({ kind: 'returned', output: JSON.stringify(output ?? null) }),
      (error: unknown) =>
        over || end({ kind: 'failed', error: thrown(error), steps: resultsOf(done), ...retryOf(error, options.now) }),
    )
  return promise
}

/** A tool that is not available here, at any depth (`step.ai.infer`): the call returns to the SDK. */
function elsewhere(giveBack: () => Promise<never>): unknown {
  return new Proxy(giveBack, { get: () => elsewhere(giveBack), apply: () => giveBack() })
}

/** A step that is done, by its name. */
interface Done {
  name: string
  value: string
}

/** The name of a step, which counts repeated ids. */
function stepName(id: string, seen: Map<string, number>): string {
  const before = seen.get(id) ?? 0
  seen.set(id, before + 1)
  return before === 0 ? id : `${id}:${before}`
}

/** The id under which the SDK keeps a step's result. */
function stepId(name: string): string {
  return createHash('sha1').update(name).digest('hex')
}

/** Only what is handed on needs ids. */
function resultsOf(done: readonly Done[]): StepResult[] {
  return done.map(({ name, value }) => ({ id: stepId(name), value }))
}

function opsOf(steps: readonly StepResult[]) {
  return steps.map(({ id, value }) => ({ id, op: 'StepRun', data: (JSON.parse(value) as { data: unknown }).data }))
}

const FINAL = { name: 'NonRetriableError' }

/** The SDK's errors say by name whether and when to try again. */
function retryOf(error: unknown, now: () => Date): { final: boolean; retryAfterMs: number | undefined } {
  const { name, retryAfter } = error as { name?: unknown; retryAfter?: unknown }
  const after = name === 'RetryAfterError' ? parseRetryAfter(String(retryAfter), now().getTime()) : undefined
  return { final: name === FINAL.name, retryAfterMs: after }
}

function thrown(error: unknown): Record<string, unknown> {
  return error instanceof Error ? plainError(error.message, error.name) : plainError(String(error))
}

function settled<T>() {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
