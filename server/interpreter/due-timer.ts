import { now } from '../clock'
import { processWide } from '../process'

/** `setTimeout` cannot wait longer; a timer that fires early only checks again. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

interface DueTimer {
  /** Answers what is due. @returns when something is due next */
  look: (() => Promise<Date | null>) | null
  timer: NodeJS.Timeout | null
  at: number
  looking: boolean
  /** It became due while a check was running. */
  again: boolean
}

/** One timer for all pauses and runs with a due time, however many. */
const state = () =>
  processWide<DueTimer>('interpreter.due', () => ({
    look: null,
    timer: null,
    at: Number.POSITIVE_INFINITY,
    looking: false,
    again: false,
  }))

/**
 * Starts the timer with a check for what is due already.
 * @returns a function that stops it
 */
export function watchNext(look: () => Promise<Date | null>): () => void {
  state().look = look
  void fire()
  return () => {
    clear()
    state().look = null
  }
}

/** Tells the timer of a due time. */
export function dueBy(time: Date): void {
  const watch = state()
  if (!watch.look || time.getTime() >= watch.at) return
  clear()
  watch.at = time.getTime()
  watch.timer = setTimeout(() => void fire(), Math.min(Math.max(0, watch.at - now().getTime()), LONGEST_TIMER_MS))
  watch.timer.unref()
}

/** One check at a time: if something becomes due meanwhile, another check follows. */
async function fire(): Promise<void> {
  clear()
  const watch = state()
  if (watch.looking) {
    watch.again = true
    return
  }
  watch.looking = true
  let next: Date | null | undefined
  try {
    do {
      watch.again = false
      next = await watch.look?.()
    } while (watch.again)
  } finally {
    watch.looking = false
  }
  if (next) dueBy(next)
}

function clear(): void {
  const watch = state()
  if (watch.timer) clearTimeout(watch.timer)
  watch.timer = null
  watch.at = Number.POSITIVE_INFINITY
}
