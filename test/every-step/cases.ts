import { expect } from 'vitest'
import type { ServiceContext } from '@/server/context'
import type { JsonObject } from '@/server/definition/json'
import { type How, QUICK } from './world'

export const SITUATIONS = [
  'success',
  'a temporary failure, then success',
  'a permanent failure',
  'a permanent failure with an error edge',
  'time is up',
  'cancel in it',
  'terminate in it',
  'kill -9 in it',
] as const
export type Situation = (typeof SITUATIONS)[number]

/** A step type's input in a situation, and the expected result. */
export interface Case {
  /** The fields of the step `it`, besides its id and type. */
  step: object
  /** The steps of its branches, and the edges to them. */
  body?: { steps: object[]; edges: object[] }
  /** Whether a call precedes it, which is the one that holds. */
  first?: boolean
  /** The exit that continues to `on`, if any. */
  exit?: string
  /** Where an edge leads to `mend`. */
  catches?: 'error' | 'timeout'
  limits?: { timeoutMs: number }
  /** A person's action once the run has reached the step. */
  act?: (ctx: ServiceContext, runId: string) => Promise<unknown>
  /** The step's record. */
  record: object
  /** The records of its branches, as `branch/step status`. */
  branches?: string[]
  run: object
  /** The outcome of a run that it started. */
  child?: string
  /** How often the outside world is called. */
  calls: number
}

/** A case that cannot exist, and why. */
export interface Never {
  never: string
}

export type Row = Record<Situation, Case | Never>

/** START of every run. No step can use it where it needs a truth value, a list, a time or a text. */
export const BROKEN = { wrong: { n: 1 } }
/** Enough for a busy machine to reach the step. A real Inngest server is slower: each branch is a request. */
const LIMIT = { timeoutMs: process.env.INNGEST_BASE_URL ? 12_000 : 3_000 }

const SUCCEEDED = { status: 'completed', outcome: 'succeeded', error: null, data: { on: true } }
const CANCELLED = { status: 'failed', outcome: 'cancelled', error: { code: 'CANCELLED' } }
const TERMINATED = { status: 'failed', outcome: 'terminated', error: { code: 'TERMINATED' } }
const TIMED_OUT = { status: 'failed', outcome: 'timed_out', error: { code: 'RUN_TIMED_OUT' } }
const failedRun = (code: string) => ({ status: 'failed', outcome: 'failed', error: { code } })
const mended = (code: string) => ({ status: 'completed', outcome: 'succeeded', error: null, data: { why: code } })

const completed = (output: JsonObject) => ({ status: 'completed', attempt: 1, outputData: output })
const failed = (code: string) => ({ status: 'failed', attempt: 1, errorCode: code, outputData: {} })
const caught = (code: string, exit = 'error') => ({ ...failed(code), handled: true, exit })

const AT_ONCE = 'It calls nothing and takes no time: its record is written complete, with that of the step before it.'
const ENDS = 'The run ends with it, so nothing leaves it.'
const WAITS = 'It only waits, and calls nothing that could fail for a while.'

/** A step that makes one call in each attempt. */
export function works(options: {
  step: (how: How) => object
  /** How its call fails transiently. */
  once: How
  output: JsonObject
  /** Its error when its call is refused. */
  refused: string
}): Row {
  const { step, once, output, refused } = options
  const base = (how: How, more: object = {}) => ({ saveAs: 'got', retry: QUICK, ...step(how), ...more })
  const run = { ...SUCCEEDED, data: { on: true, got: output } }
  const done = { exit: 'next', run }
  const again = { ...completed(output), attempt: 2 }
  const attempts = [{ attempt: 1, error: expect.stringMatching(/./) }, { attempt: 2 }]
  return {
    success: { ...done, step: base('answers'), record: completed(output), calls: 1 },
    'a temporary failure, then success': { ...done, step: base(once), record: { ...again, attempts }, calls: 2 },
    'a permanent failure': { step: base('refuses'), record: failed(refused), run: failedRun(refused), calls: 1 },
    'a permanent failure with an error edge': {
      step: base('refuses'),
      catches: 'error',
      record: caught(refused),
      run: mended(refused),
      calls: 1,
    },
    'time is up': {
      step: base('holds', { timeoutMs: 1_500, retry: { maxAttempts: 1 } }),
      record: { ...failed('TRANSIENT'), error: 'The step did not finish within 1500 ms.' },
      run: failedRun('TRANSIENT'),
      calls: 1,
    },
    'cancel in it': { step: base('holds'), record: failed('CANCELLED'), run: CANCELLED, calls: 1 },
    'terminate in it': { step: base('holds'), record: failed('TERMINATED'), run: TERMINATED, calls: 1 },
    // Nobody knows how the attempt ended that died with its process.
    'kill -9 in it': { ...done, step: base('holds'), record: again, calls: 2 },
  }
}

/** A step that waits for a person, an event or a time. */
export function waits(options: {
  step: object
  /** The event that ends the wait; null if it is time. */
  act: NonNullable<Case['act']> | null
  /** The same step with a wait that never ends. */
  long: object
  output: JsonObject
  exit?: string
  broken: object
}): Row {
  const { step, act, long, output, exit = 'next', broken } = options
  const done = { step, ...(act ? { act } : {}), exit, record: completed(output), run: SUCCEEDED, calls: 0 }
  const wrong = { step: broken, calls: 0 }
  const code = 'INVALID_CONFIG'
  const expires = { step: { ...long, expiresIn: 'PT0.3S' }, catches: 'timeout' as const }
  return {
    success: done,
    'a temporary failure, then success': { never: WAITS },
    'a permanent failure': { ...wrong, record: failed(code), run: failedRun(code) },
    'a permanent failure with an error edge': { ...wrong, catches: 'error', record: caught(code), run: mended(code) },
    'time is up': act
      ? { ...expires, record: caught('TIMED_OUT', 'timeout'), run: mended('TIMED_OUT'), calls: 0 }
      : { step: long, limits: LIMIT, record: failed('RUN_TIMED_OUT'), run: TIMED_OUT, calls: 0 },
    'cancel in it': { step: long, record: failed('CANCELLED'), run: CANCELLED, calls: 0 },
    'terminate in it': { step: long, record: failed('TERMINATED'), run: TERMINATED, calls: 0 },
    'kill -9 in it': done,
  }
}

/** A step that consists of other steps, which make one call: its branches, or another run. */
export function contains(options: {
  inside: (how: How) => Pick<Case, 'step' | 'body'>
  exit?: string
  output: JsonObject
  /** Its error when its content fails. */
  code: string
  /** The records of its branches if the call ends like this. */
  branches?: (call: 'completed' | 'failed') => string[]
  /** Why its own attempts cannot fail transiently. */
  never: string
  startsRun?: boolean
}): Row {
  const { inside, exit = 'next', output, code, branches = () => [], never, startsRun } = options
  const ends = (child: string) => (startsRun ? { child } : {})
  const done = {
    exit,
    record: completed(output),
    run: SUCCEEDED,
    branches: branches('completed'),
    ...ends('succeeded'),
  }
  const refused = { ...inside('refuses'), branches: branches('failed'), calls: 1, ...ends('failed') }
  const held = { ...inside('holds'), branches: branches('failed'), calls: 1 }
  return {
    success: { ...done, ...inside('answers'), calls: 1 },
    'a temporary failure, then success': { never },
    'a permanent failure': { ...refused, record: failed(code), run: failedRun(code) },
    'a permanent failure with an error edge': { ...refused, catches: 'error', record: caught(code), run: mended(code) },
    'time is up': { ...held, ...ends('terminated'), limits: LIMIT, record: failed('RUN_TIMED_OUT'), run: TIMED_OUT },
    'cancel in it': { ...held, ...ends('cancelled'), record: failed('CANCELLED'), run: CANCELLED },
    'terminate in it': { ...held, ...ends('terminated'), record: failed('TERMINATED'), run: TERMINATED },
    'kill -9 in it': { ...done, ...inside('holds'), calls: 2 },
  }
}

/** A step that only computes. A process can be killed just before it: in the step with which it is recorded. */
export function computes(options: {
  step: object
  /** Absent if it ends the run. */
  exit?: string
  record: object
  run?: object
  broken: object
  /** The broken step's error. */
  code: string
}): Row {
  const { step, exit, record, run = SUCCEEDED, broken, code } = options
  const done = { step, ...(exit === undefined ? {} : { exit }), record, run }
  const wrong = { step: broken, calls: 0 }
  const never = { never: AT_ONCE }
  return {
    success: { ...done, calls: 0 },
    'a temporary failure, then success': never,
    'a permanent failure': { ...wrong, record: failed(code), run: failedRun(code) },
    'a permanent failure with an error edge':
      exit === undefined ? { never: ENDS } : { ...wrong, catches: 'error', record: caught(code), run: mended(code) },
    'time is up': never,
    'cancel in it': never,
    'terminate in it': never,
    'kill -9 in it': { ...done, first: true, calls: 2 },
  }
}
