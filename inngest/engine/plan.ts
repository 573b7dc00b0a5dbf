import type { Outcome } from './call'
import { plainError } from './call'
import type { Claim, EngineContext } from './context'
import { LONGEST_MS, parseDuration, parseInstant } from './durations'
import { bind, indexed, parseExpression } from './match'
import {
  InvokeOpts,
  LARGEST_OUTPUT,
  MAX_STEPS,
  type Op,
  type StepResult,
  WaitForEventOpts,
  WaitForSignalOpts,
} from './protocol'
import type { FunctionSpec } from './registry'

/** A due time: a number of milliseconds from now, or a fixed time. */
export interface Due {
  inMs?: number
  at?: string
}

export interface NewWait extends Due {
  stepId: string
  kind: 'event' | 'signal' | 'invoke' | 'cancel' | 'start' | 'finish'
  key: string
  token: string
  condition: string | null
}

export interface NewJob extends Due {
  stepId: string
  kind: 'step' | 'sleep'
}

export interface Invocation extends Due {
  stepId: string
  functionId: string
  payload: Record<string, unknown>
}

/** The fate of a claim, decided without reading the database. */
export type Plan =
  | { kind: 'drop' }
  | { kind: 'retry'; steps: StepResult[]; delayMs: number }
  | { kind: 'end'; status: 'completed' | 'failed'; output: string; steps: StepResult[] }
  /** Calls the function again immediately. */
  | { kind: 'again'; steps: StepResult[] }
  /** Ends the job, stores its results and opens what the function waits for next. */
  | ({ kind: 'move'; steps: StepResult[]; done: number; race: boolean } & Openings)

export interface Openings {
  waits: NewWait[]
  replacing: string[]
  jobs: NewJob[]
  invocations: Invocation[]
}

type Clock = Pick<EngineContext, 'now' | 'retryDelayMs'>

/** Fails a run for one of the engine's own reasons. */
export function failing(message: string, name = 'Error', steps: StepResult[] = []): Plan {
  return { kind: 'end', status: 'failed', output: JSON.stringify(plainError(message, name)), steps }
}

export function planOutcome(claim: Claim, spec: FunctionSpec, outcome: Outcome, clock: Clock): Plan {
  if (outcome.kind === 'stale') return { kind: 'drop' }
  if (outcome.kind === 'returned') return complete(outcome.output, [])
  if (outcome.kind === 'ops') return planOps(claim, spec, outcome, clock)
  const lastAttempt = claim.attempt + 1 >= spec.maxAttempts
  if (outcome.final || lastAttempt) {
    return { kind: 'end', status: 'failed', output: JSON.stringify(outcome.error), steps: outcome.steps ?? [] }
  }
  return {
    kind: 'retry',
    steps: outcome.steps ?? [],
    delayMs: outcome.retryAfterMs ?? clock.retryDelayMs(claim.attempt),
  }
}

function complete(output: string, steps: StepResult[]): Plan {
  if (output.length > LARGEST_OUTPUT)
    return failing('The result of the run is larger than 4 MB', 'OutputTooLarge', steps)
  return { kind: 'end', status: 'completed', output, steps }
}

function planOps(
  claim: Claim,
  spec: FunctionSpec,
  { ops, final, retryAfterMs }: Extract<Outcome, { kind: 'ops' }>,
  { now, retryDelayMs }: Clock,
): Plan {
  const lastAttempt = claim.attempt + 1 >= spec.maxAttempts
  const reported = read(ops, { isLast: final || lastAttempt, event: claim.event, now: now() })
  const { steps, output, openings } = reported
  if (reported.problem !== undefined) return failing(reported.problem, 'NotSupported', steps)
  if (steps.some(({ value }) => value.length > LARGEST_OUTPUT)) {
    return failing('The result of a step is larger than 4 MB', 'OutputTooLarge')
  }
  if (claim.memo.size + steps.length > MAX_STEPS) return failing(`More than ${MAX_STEPS} steps`, 'TooManySteps')
  if (output !== undefined) return complete(output, steps)
  if (reported.retry) return { kind: 'retry', steps, delayMs: retryAfterMs ?? retryDelayMs(claim.attempt) }
  const orFail = (message: string): Plan =>
    lastAttempt ? failing(message) : { kind: 'retry', steps, delayMs: retryDelayMs(claim.attempt) }
  const opened = openings.waits.length + openings.jobs.length + openings.invocations.length
  if (claim.kind === 'run' && opened === 0) {
    if (steps.length > 0 || reported.rediscover) return { kind: 'again', steps }
    if (claim.pending === 0) return orFail('The function neither ended nor reported a step')
  }
  const done = claim.kind === 'step' ? 1 : 0
  if (done === 1 && !steps.some(({ id }) => id === claim.stepId))
    return orFail('A planned step was asked for and did not answer')
  return { kind: 'move', steps, done, race: reported.race, ...openings }
}

/** The SDK's report in one answer. */
interface Reported {
  steps: StepResult[]
  openings: Openings
  race: boolean
  /** The function must be called again although nothing is new. */
  rediscover: boolean
  /** A step has failed and has attempts left. */
  retry: boolean
  output?: string
  /** Why the run cannot continue. */
  problem?: string
}

/** @param call.isLast whether this is the last attempt */
function read(ops: readonly Op[], { isLast, ...call }: { isLast: boolean; event: string; now: Date }): Reported {
  const openings: Openings = { waits: [], replacing: [], jobs: [], invocations: [] }
  const found: Reported = { steps: [], openings, race: false, rediscover: false, retry: false }
  for (const op of ops) {
    if (op.opts?.parallelMode === 'race') found.race = true
    switch (op.op) {
      case 'StepRun':
        found.steps.push({ id: op.id, value: JSON.stringify({ data: op.data ?? null }) })
        break
      case 'StepError':
      case 'StepFailed': {
        const error = op.error ?? plainError('The step failed')
        if (op.op === 'StepFailed' || isLast) found.steps.push({ id: op.id, value: JSON.stringify({ error }) })
        else found.retry = true
        break
      }
      case 'RunComplete':
        found.output = JSON.stringify(op.data ?? null)
        break
      case 'DiscoveryRequest':
        found.rediscover = true
        break
      default: {
        const problem = open(op, { ...call, openings })
        if (problem !== undefined) return { ...found, problem }
      }
    }
  }
  return found
}

interface Opening {
  /** The run's event, as JSON. */
  event: string
  now: Date
  openings: Openings
}

/** Adds the wait of an operation. Returns the reason if it cannot. */
type Opener = (op: Op, call: Opening) => string | undefined

const OPENERS: Partial<Record<string, Opener>> = {
  StepPlanned({ id }, { openings }) {
    openings.jobs.push({ kind: 'step', stepId: id, inMs: 0 })
    return undefined
  },
  Sleep({ id, name }, { now, openings }) {
    const due = parseDue(name ?? '', now)
    if (typeof due === 'string') return due
    openings.jobs.push({ kind: 'sleep', stepId: id, ...due })
    return undefined
  },
  WaitForEvent({ id, name, ...op }, { event, now, openings }) {
    const opts = WaitForEventOpts.safeParse(op.opts)
    if (!opts.success || !name) return 'step.waitForEvent was reported without its event or time-out'
    const due = parseDue(opts.data.timeout, now)
    if (typeof due === 'string') return due
    try {
      const source = opts.data.if
      const bound = source === undefined ? [] : bind(parseExpression(source, ['event', 'async']), JSON.parse(event))
      openings.waits.push({ kind: 'event', stepId: id, key: name, ...condition(bound), ...due })
    } catch (error) {
      return `step.waitForEvent: ${error instanceof Error ? error.message : String(error)}`
    }
    return undefined
  },
  WaitForSignal({ id, ...op }, { now, openings }) {
    const opts = WaitForSignalOpts.safeParse(op.opts)
    if (!opts.success) return 'step.waitForSignal was reported without its signal or time-out'
    const due = parseDue(opts.data.timeout, now)
    if (typeof due === 'string') return due
    if (opts.data.conflict === 'replace') openings.replacing.push(opts.data.signal)
    openings.waits.push({ kind: 'signal', stepId: id, key: opts.data.signal, token: '', condition: null, ...due })
    return undefined
  },
  InvokeFunction({ id, ...op }, { now, openings }) {
    const opts = InvokeOpts.safeParse(op.opts)
    if (!opts.success) return 'step.invoke was reported without its function'
    const due = parseDue(opts.data.timeout ?? '365d', now)
    if (typeof due === 'string') return due
    const { function_id: functionId, payload } = opts.data
    openings.invocations.push({ stepId: id, functionId, payload: payload ?? {}, ...due })
    return undefined
  },
}

const open: Opener = (op, call) => {
  const opener = Object.hasOwn(OPENERS, op.op) ? OPENERS[op.op] : undefined
  return opener ? opener(op, call) : `This engine does not support the operation ${op.op}`
}

/** A bound condition in the form of the waits table: the indexed part and the rest. */
export function condition(bound: ReturnType<typeof bind>): { token: string; condition: string | null } {
  const { token, rest } = indexed(bound)
  return { token, condition: rest.length > 0 ? JSON.stringify(rest) : null }
}

function parseDue(text: string, now: Date): Due | string {
  // As on the real server, an empty time-out expires immediately.
  if (text === '') return { inMs: 0 }
  const inMs = parseDuration(text)
  const at = parseInstant(text)
  const ms = inMs ?? (at && at.getTime() - now.getTime())
  if (ms === undefined) return `Not a duration or date: ${text}`
  if (ms > LONGEST_MS) return 'Sleeps and waits of more than 366 days are not possible'
  return at ? { at: at.toISOString() } : { inMs: ms }
}
