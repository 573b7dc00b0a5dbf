import type { JsonValue } from '@/server/definition/json'
import { Busy } from '@/server/errors'
import type { ScriptFetch } from './fetch-relay'
import type { Ending, FailureCode, LogLine } from './protocol'
import { sharedPool } from './shared-pool'

export type { LogLine } from './protocol'
export { stopSandbox } from './shared-pool'

/**
 * Runs a user's JavaScript isolated from everything: in QuickJS compiled to WebAssembly, in a worker thread, in a fresh
 * runtime per call. (Never in this thread, not even briefly: the engine's own deadline does not reach loops inside its
 * built-ins; only ending the thread does.)
 *
 * The script is the body of an async function, in sloppy mode unless it starts with 'use strict':
 *
 *     const total = args.lines.reduce((sum, line) => sum + line.price, 0)
 *     console.log('total', total)
 *     return { total }
 *
 * In scope: `args`, `dataContext`, `context` (copies), `idempotencyKey` and `console`. The result is JSON by the rules of
 * `JSON.stringify`; undefined becomes null and keys named `__proto__` are dropped. `await` works on promises; there are
 * no timers, modules, files or `process`, and no network except `fetch`, if the caller provides it. The script is over
 * when the function returns: promises nobody awaited are not waited for, and calls in progress are aborted.
 */
export interface ScriptRun {
  /** The script's tenant; tenants take turns. */
  tenantId: string
  code: string
  args: unknown
  dataContext: unknown
  context: unknown
  /** The key of the call; none by default. */
  idempotencyKey?: string | null
  /** Counts from the script's start, without the wait for a worker. Default 10 s. */
  timeoutMs?: number
  /** Default 64. The engine itself needs some of it. */
  memoryMb?: number
  /** Limit for the result as JSON. Default 1 MiB. */
  maxOutputBytes?: number
  /** Makes the calls of the script's `fetch`; without it there is no `fetch`. */
  fetch?: ScriptFetch | undefined
  signal?: AbortSignal
  /** Receives each console line immediately. */
  log?: ((line: LogLine) => void) | undefined
}

export type ScriptOutcome = (
  | { ok: true; value: JsonValue }
  | { ok: false; code: FailureCode; message: string; details: string[]; transient?: boolean }
) & {
  logs: LogLine[]
  /** How long it waited for a worker. */
  waitedMs: number
}

/** The most `fetch` calls in one run. */
export const MAX_FETCHES = 20
const MIB = 1024 * 1024
// beyond 2^31 ms, Node's timers fire immediately
const MAX_TIMEOUT_MS = 24 * 3_600_000
/** When to retry if no worker came free. */
const BUSY_RETRY_MS = 2_000

/**
 * Never throws for a fault of the script. Line and column numbers count from the script's first line. A script
 * cancelled by the signal is an EXECUTION_ERROR.
 *
 * @throws Busy if no worker came free and the script never ran; Stopping; Error if no worker can start
 */
export async function runScript(run: ScriptRun): Promise<ScriptOutcome> {
  const { tenantId, code, timeoutMs = 10_000, memoryMb = 64, maxOutputBytes = MIB, signal, fetch, log } = run
  const input = toInput(run)
  if (input === null) return refused('The input of the script is not JSON')
  // parsing in the VM needs the text several times over
  if (code.length + input.length > (memoryMb * MIB) / 8) {
    return refused(`The script and its input are too large for ${memoryMb} MiB of memory`)
  }
  const limits = { timeoutMs: Math.min(timeoutMs, MAX_TIMEOUT_MS), memoryMb, maxOutputBytes }
  const request = { code, input, ...limits, maxFetches: fetch ? MAX_FETCHES : 0 }
  const { ending, logs, waitedMs } = await sharedPool().run({ tenantId, request, signal, fetch, log })
  if (ending === 'busy') throw new Busy('No script worker is free. Try again shortly.', BUSY_RETRY_MS)
  return { ...toOutcome(ending), logs, waitedMs }
}

function toInput({ args, dataContext, context, idempotencyKey = null }: ScriptRun): string | null {
  try {
    return JSON.stringify([args, dataContext, context, idempotencyKey])
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
