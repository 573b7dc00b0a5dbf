/** A clock older than this ticks immediately for a new reader. */
const FRESH_MS = 1_000

interface Clock {
  now: number
  timer: ReturnType<typeof setInterval>
  readers: Set<(now: number) => void>
}

/** One clock per interval: separate timers would show contradictory times on one screen. */
const clocks = new Map<number, Clock>()

/** Passes the current time to all readers of an interval, now and at each tick. @returns a function that stops it */
export function onTick(everyMs: number, read: (now: number) => void): () => void {
  const clock = clocks.get(everyMs) ?? begin(everyMs)
  clock.readers.add(read)
  if (Date.now() - clock.now < FRESH_MS) read(clock.now)
  else tick(clock)
  return () => {
    clock.readers.delete(read)
    if (clock.readers.size > 0) return
    clearInterval(clock.timer)
    clocks.delete(everyMs)
  }
}

function begin(everyMs: number): Clock {
  const clock: Clock = { now: Date.now(), timer: setInterval(() => tick(clock), everyMs), readers: new Set() }
  clocks.set(everyMs, clock)
  return clock
}

function tick(clock: Clock): void {
  clock.now = Date.now()
  for (const read of clock.readers) read(clock.now)
}
