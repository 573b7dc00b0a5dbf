import { createHash } from 'node:crypto'
import { parseRetryAfter } from './backoff'
import type { Outcome } from './call'
import { plainError } from './call'
import type { Claim } from './context'
import { type EngineEvent, LARGEST_OUTPUT, MAX_STEPS, type StepResult } from './protocol'
import type { NativeCall, NativeHandler } from './types'

/** The outcome of a native call: a response as from the SDK, or a return to the SDK with the results so far. */
export type NativeOutcome = Outcome | { kind: 'back'; steps: StepResult[] }

type StepId = string | { id: string }
type Work = (...input: unknown[]) => unknown

interface Options {
  signal: AbortSignal
  /** Whether the process is stopping, which ends the call at the next step. */
  stopping: () => boolean
  now: () => Date
}

/**
 * Calls a function in this process without the SDK's protocol: its steps run one after the other, and their results
 * stay in memory. That suits functions whose steps can be repeated, because a process that dies takes the results with
 * it. If the function uses any other operation (waits, sleeps, parallel steps), the call returns to the SDK, which gets
 * the results so far. Each step waits until no promise is left to settle, so that everything a function requests
 * together is known before anything runs.
 */
export function callNatively(handler: NativeHandler, claim: Claim, options: Options): Promise<NativeOutcome> {
  return new NativeRun(claim, options).call(handler)
}

class NativeRun {
  /** Per call, because it references everything that waits for the call. */
  private readonly forever = new Promise<never>(() => {})
  private readonly outcome = settled<NativeOutcome>()
  private readonly done: Done[] = []
  private readonly seen = new Map<string, number>()
  private over = false
  private asked = 0
  private running = false
  /** The first step may have begun with the run itself. */
  private reserved = true

  constructor(
    private readonly claim: Claim,
    private readonly options: Options,
  ) {}

  call(handler: NativeHandler): Promise<NativeOutcome> {
    const { claim, options, done } = this
    const call: NativeCall = {
      event: JSON.parse(claim.event) as EngineEvent,
      step: this.tools(),
      runId: claim.runId,
      attempt: claim.attempt,
      stopping: options.stopping,
      guaranteeNextStep: () => {
        this.reserved = true
      },
    }
    Promise.resolve()
      .then(() => handler(call))
      .then(
        (output) => this.over || this.end({ kind: 'returned', output: JSON.stringify(output ?? null) }),
        (error: unknown) =>
          this.over ||
          this.end({ kind: 'failed', error: thrown(error), steps: resultsOf(done), ...retryOf(error, options.now) }),
      )
    return this.outcome.promise
  }

  private tools(): Record<string, unknown> {
    const run = (id: StepId, work: Work, ...input: unknown[]) => this.run(id, () => work(...input))
    return new Proxy({ run } as Record<string, unknown>, {
      // A step that is awaited by mistake must not look like a promise.
      get: (own, name) =>
        name === 'then' ? undefined : (own[String(name)] ?? unsupportedTool(() => this.fallBackToSdk())),
    })
  }

  private async run(id: StepId, work: () => unknown): Promise<unknown> {
    if (this.over) return this.forever
    const mine = ++this.asked
    const name = stepName(typeof id === 'string' ? id : id.id, this.seen)
    await new Promise<void>((next) => process.nextTick(next))
    if (this.over || this.running) return this.forever
    if (this.options.signal.aborted) return this.end({ kind: 'stale' })
    const isLast = this.options.stopping() && !this.reserved
    if (this.asked !== mine || isLast || this.done.length >= MAX_STEPS) return this.fallBackToSdk()
    this.running = true
    this.reserved = false
    try {
      const value = JSON.stringify({ data: (await work()) ?? null })
      if (value.length > LARGEST_OUTPUT)
        throw Object.assign(new Error('The result of a step is larger than 4 MB'), FINAL)
      this.done.push({ name, value })
      if (this.asked === mine) return (JSON.parse(value) as { data: unknown }).data
    } catch (error) {
      return this.failed(name, error)
    } finally {
      this.running = false
    }
    return this.fallBackToSdk()
  }

  private failed(name: string, error: unknown): Promise<never> {
    const failure = { id: stepId(name), op: 'StepError' as const, error: thrown(error) }
    const ops = [...opsOf(resultsOf(this.done)), failure]
    return this.end({ kind: 'ops', ops, ...retryOf(error, this.options.now) })
  }

  private fallBackToSdk(): Promise<never> {
    this.asked++
    // Record a running step first.
    return this.running ? this.forever : this.end({ kind: 'back', steps: resultsOf(this.done) })
  }

  /** Ends the call, once; the function itself never continues. */
  private end(outcome: NativeOutcome): Promise<never> {
    if (!this.over) this.outcome.resolve(outcome)
    this.over = true
    return this.forever
  }
}

/** A tool that is not available here, at any depth (`step.ai.infer`): the call returns to the SDK. */
function unsupportedTool(fallBackToSdk: () => Promise<never>): unknown {
  return new Proxy(fallBackToSdk, { get: () => unsupportedTool(fallBackToSdk), apply: () => fallBackToSdk() })
}

/** A completed step, by name. */
interface Done {
  name: string
  value: string
}

/** The name of a step, with a counter for repeated ids. */
function stepName(id: string, seen: Map<string, number>): string {
  const before = seen.get(id) ?? 0
  seen.set(id, before + 1)
  return before === 0 ? id : `${id}:${before}`
}

/** The id under which the SDK stores a step's result. */
function stepId(name: string): string {
  return createHash('sha1').update(name).digest('hex')
}

/** Only results that are handed on need ids. */
function resultsOf(done: readonly Done[]): StepResult[] {
  return done.map(({ name, value }) => ({ id: stepId(name), value }))
}

function opsOf(steps: readonly StepResult[]) {
  return steps.map(({ id, value }) => ({ id, op: 'StepRun', data: (JSON.parse(value) as { data: unknown }).data }))
}

const FINAL = { name: 'NonRetriableError' }

/** The SDK's errors define by name whether and when to retry. */
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
