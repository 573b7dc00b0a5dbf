import { readFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'

/** How long a turn of the event loop may take, in milliseconds of the main thread's processor time. */
export const LONGEST_HOLD_MS = 250
/** Interval between readings of the thread's time. */
const BEAT_MS = 4
/** The processor's caches belong to other processes too: code that is slow because of them is not slow every time. */
const TRIES = 3

const threadUsage = (process as { threadCpuUsage?: () => NodeJS.CpuUsage }).threadCpuUsage?.bind(process)

/** This thread's processor time, in milliseconds. Other work on the machine does not add to it. */
function threadMs(): number {
  if (threadUsage) return msOf(threadUsage())
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ', 1)[0]) / 1e6
  } catch {
    // Except on Linux, Node before 23.9 only has the time of all threads, which is more.
    return msOf(process.cpuUsage())
  }
}

const msOf = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1_000

/**
 * The work's result, and how long it held the event loop at most: in milliseconds of processor time, which does not
 * grow on a busy machine. Nothing else may run in the process.
 */
export async function held<T>(work: () => Promise<T>): Promise<{ result: T; mostMs: number; allMs: number }> {
  const began = threadMs()
  let last = began
  let mostMs = 0
  const look = () => {
    const now = threadMs()
    mostMs = Math.max(mostMs, now - last)
    last = now
  }
  const timer = setInterval(look, BEAT_MS)
  try {
    const result = await work()
    // Work left for the next turn.
    await setImmediate()
    look()
    return { result, mostMs, allMs: last - began }
  } finally {
    clearInterval(timer)
  }
}

/**
 * The same for repeatable work: if it held the loop too long, the shortest of several tries, scaled to the machine on
 * which the limit was set.
 */
export async function surelyHeld(work: () => Promise<unknown>, limitMs = LONGEST_HOLD_MS): Promise<number> {
  let shortest = Number.POSITIVE_INFINITY
  for (let tried = 0; tried < TRIES && shortest > limitMs; tried++) {
    const { mostMs } = await held(work)
    shortest = Math.min(shortest, mostMs > limitMs ? mostMs / slowness() : mostMs)
  }
  return shortest
}

/** Duration of `reference` on the idle machine on which the limits were set. */
const REFERENCE_MS = 55

/** How many times slower this machine is now: its processor is slow, or other work shares its caches and clock. */
export function slowness(): number {
  // Once before, to compile it.
  reference()
  const before = threadMs()
  reference()
  return Math.max(1, (threadMs() - before) / REFERENCE_MS)
}

/** Allocates and looks at many small values, as parsers and checks do. */
function reference(): number {
  const text = JSON.stringify(Array.from({ length: 20_000 }, (_, n) => ({ id: `step_${n}`, refs: [n, `${n}`] })))
  let found = 0
  for (let round = 0; round < 4; round++)
    for (const { id, refs } of JSON.parse(text) as { id: string; refs: unknown[] }[])
      if (/^[a-z]+_\d+$/.test(id)) found += refs.length
  return found
}
