import type { JsonValue } from '@/server/definition/json'
import { Busy } from '@/server/errors'
import type { ScriptFetch } from './fetch-relay'
import type { Ending, FailureCode, LogLine } from './protocol'
import { sharedPool } from './shared-pool'

export type { LogLine } from './protocol'
export { stopSandbox } from './shared-pool'

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
  /** Whose script it is; tenants take turns. */
  tenantId: string
  code: string
  args: unknown
  dataContext: unknown
  context: unknown
  /** From when the script begins: the wait for a worker does not count. Default 10 s. */
  timeoutMs?: number
  /** Default 64. The engine itself needs a few of them. */
  memoryMb?: number
  /** Of the result as JSON. Default 1 MiB. */
  maxOutputBytes?: number
  /** Makes the calls of the script's `fetch`; without it there is none. */
  fetch?: ScriptFetch | undefined
  signal?: AbortSignal
}

export type ScriptOutcome = (
  | { ok: true; value: JsonValue }
  | { ok: false; code: FailureCode; message: string; details: string[]; transient?: boolean }
) & {
  logs: LogLine[]
  /** How long it waited for a worker. */
  waitedMs: number
}

/** Calls of `fetch` in one run. */
export const MAX_FETCHES = 20
const MIB = 1024 * 1024
// past 2^31 ms a timer of Node's fires at once
const MAX_TIMEOUT_MS = 24 * 3_600_000
/** When to ask again after no worker came free. */
const BUSY_RETRY_MS = 2_000

/**
 * Never throws for a script's fault; line and column numbers count from the script's own first line.
 * A script that is cancelled by the signal is an EXECUTION_ERROR.
 *
 * @throws Busy when no worker came free and the script never ran; Error when no worker can be started
 */
export async function runScript(run: ScriptRun): Promise<ScriptOutcome> {
  const { tenantId, code, timeoutMs = 10_000, memoryMb = 64, maxOutputBytes = MIB, signal, fetch } = run
  const input = toInput(run)
  if (input === null) return refused('The script was given something that is not JSON')
  // text is held several times over while it is parsed inside
  if (code.length + input.length > (memoryMb * MIB) / 8) {
    return refused(`The script and its input are too large for ${memoryMb} MiB of memory`)
  }
  const limits = { timeoutMs: Math.min(timeoutMs, MAX_TIMEOUT_MS), memoryMb, maxOutputBytes }
  const request = { code, input, ...limits, maxFetches: fetch ? MAX_FETCHES : 0 }
  const { ending, logs, waitedMs } = await sharedPool().run({ tenantId, request, signal, fetch })
  if (ending === 'busy') throw new Busy('No script worker is free. Try again shortly.', BUSY_RETRY_MS)
  return { ...toOutcome(ending), logs, waitedMs }
}

function toInput({ args, dataContext, context }: ScriptRun): string | null {
  try {
    return JSON.stringify([args, dataContext, context])
  } catch {
    return null
  }
}

function toOutcome(ending: Ending) {
  if (!ending.ok) return ending
  try {
    // a reviver is slow, and almost no result needs one
    const reviver = ending.json.includes('"__proto__"') ? withoutProto : undefined
    return { ok: true as const, value: JSON.parse(ending.json, reviver) }
  } catch {
    const message = "The script's result is not JSON"
    return { ok: false as const, code: 'OUTPUT_INVALID' as const, message, details: [] }
  }
}

function withoutProto(key: string, value: unknown): unknown {
  return key === '__proto__' ? undefined : value
}

function refused(message: string): ScriptOutcome {
  return { ok: false, code: 'EXECUTION_ERROR', message, details: [], logs: [], waitedMs: 0 }
}
