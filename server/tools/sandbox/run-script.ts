import { availableParallelism } from 'node:os'
import type { JsonValue } from '@/server/definition/json'
import { processWide } from '../../process'
import type { ScriptFetch } from './fetch-relay'
import { ScriptPool } from './pool'
import type { Ending, FailureCode, LogLine } from './protocol'

export type { LogLine } from './protocol'

/**
 * Runs JavaScript that a user wrote, as data, away from everything: in QuickJS compiled to WebAssembly, in a
 * worker thread, in a fresh module per call. (Never in this thread, not even for a moment: the engine's own
 * deadline does not reach loops inside its built-ins, only ending the thread does.)
 *
 * The script is the body of an async function, in sloppy mode unless it begins with 'use strict':
 *
 *     const total = args.lines.reduce((sum, line) => sum + line.price, 0)
 *     console.log('total', total)
 *     return { total }
 *
 * In scope: `args`, `dataContext`, `context` (copies) and `console`. It returns what JSON can say, by the
 * rules of `JSON.stringify`; undefined becomes null, keys named `__proto__` are dropped. `await` works on
 * promises; there are no timers, no modules, no files, no `process`, and no network but `fetch`, where the caller
 * gives one. It is over once the function has returned: promises nobody awaited are not waited for, and calls under
 * way are broken off.
 */
export interface ScriptRun {
  code: string
  args: unknown
  dataContext: unknown
  context: unknown
  /** The script's own time, without the wait for a worker. Default 10 s. */
  timeoutMs?: number
  /** Default 64. The engine itself needs a few of them. */
  memoryMb?: number
  /** Of the result as JSON. Default 1 MiB. */
  maxOutputBytes?: number
  /** Makes the calls of the script's `fetch`; without it there is none. */
  fetch?: ScriptFetch | undefined
  signal?: AbortSignal
}

export type ScriptOutcome =
  | { ok: true; value: JsonValue; logs: LogLine[] }
  | { ok: false; code: FailureCode; message: string; details: string[]; transient?: boolean; logs: LogLine[] }

/** Calls of `fetch` in one run. */
export const MAX_FETCHES = 20
const MIB = 1024 * 1024
// past 2^31 ms a timer of Node's fires at once
const MAX_TIMEOUT_MS = 24 * 3_600_000
const shared = processWide<{ pool?: ScriptPool }>('script-pool', () => ({}))

/**
 * Never throws for a script's fault; its line and column numbers count from the script's own first line.
 * A script that is cancelled by the signal is an EXECUTION_ERROR.
 *
 * @throws Error when no worker can be started.
 */
export async function runScript(run: ScriptRun): Promise<ScriptOutcome> {
  const { code, timeoutMs = 10_000, memoryMb = 64, maxOutputBytes = MIB, signal, fetch } = run
  const input = toInput(run)
  if (input === null) return refused('The script was given something that is not JSON')
  // text is held several times over while it is parsed inside
  if (code.length + input.length > (memoryMb * MIB) / 8) {
    return refused(`The script and its input are too large for ${memoryMb} MiB of memory`)
  }
  const limits = { timeoutMs: Math.min(timeoutMs, MAX_TIMEOUT_MS), memoryMb, maxOutputBytes }
  const request = { code, input, ...limits, maxFetches: fetch ? MAX_FETCHES : 0 }
  const { ending, logs } = await pool().run(request, signal, fetch)
  return toOutcome(ending, logs)
}

/** Ends all workers, for shutdown and tests. Scripts still running fail. */
export async function stopSandbox(): Promise<void> {
  await shared.pool?.stop()
}

function pool(): ScriptPool {
  shared.pool ??= new ScriptPool({
    maxRunning: Math.min(Math.max(availableParallelism() - 1, 1), 4),
    maxWaiting: 16,
    maxQueueMs: 30_000,
    idleMs: 30_000,
  })
  return shared.pool
}

function toInput({ args, dataContext, context }: ScriptRun): string | null {
  try {
    return JSON.stringify([args, dataContext, context])
  } catch {
    return null
  }
}

function toOutcome(ending: Ending, logs: LogLine[]): ScriptOutcome {
  if (!ending.ok) return { ...ending, logs }
  try {
    // a reviver is slow, and almost no result needs one
    const reviver = ending.json.includes('"__proto__"') ? withoutProto : undefined
    return { ok: true, value: JSON.parse(ending.json, reviver), logs }
  } catch {
    return { ok: false, code: 'OUTPUT_INVALID', message: "The script's result is not JSON", details: [], logs }
  }
}

function withoutProto(key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value
}

function refused(message: string): ScriptOutcome {
  return { ok: false, code: 'EXECUTION_ERROR', message, details: [], logs: [] }
}
