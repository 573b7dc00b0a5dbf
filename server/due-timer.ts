import { processWide } from '@/db/process-wide'
import { now } from './clock'

/** `setTimeout` cannot wait longer; a timer that fires early only checks again. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

interface State {
  /** Answers what is due. @returns when something is due next */
  look: (() => Promise<Date | null>) | null
  timer: NodeJS.Timeout | null
  at: number
  looking: boolean
  /** It became due while a check was running. */
  again: boolean
}

/** One timer for everything of a kind that has a due time, however much. */
export interface DueTimer {
  /**
   * Starts the timer with a check for what is due already.
   * @param look answers what is due; returns when something is due next
   * @returns a function that stops it
   */
  watch(look: () => Promise<Date | null>): () => void
  /** Tells the timer of a due time. Does nothing in a process that does not watch. */
  dueBy(time: Date): void
}

/** @param kind what is due, for this process's state */
export function dueTimer(kind: string): DueTimer {
  const state = () =>
    processWide<State>(`due.${kind}`, () => ({
      look: null,
      timer: null,
      at: Number.POSITIVE_INFINITY,
      looking: false,
      again: false,
    }))

  function watch(look: () => Promise<Date | null>): () => void {
    state().look = look
    void fire()
    return () => {
      clear()
      state().look = null
    }
  }

  function dueBy(time: Date): void {
    const watched = state()
    if (!watched.look || time.getTime() >= watched.at) return
    clear()
    watched.at = time.getTime()
    const ms = Math.min(Math.max(0, watched.at - now().getTime()), LONGEST_TIMER_MS)
    watched.timer = setTimeout(() => void fire(), ms)
    watched.timer.unref()
  }

  /** One check at a time: if something becomes due meanwhile, another check follows. */
  async function fire(): Promise<void> {
    clear()
    const watched = state()
    if (watched.looking) {
      watched.again = true
      return
    }
    watched.looking = true
    let next: Date | null | undefined
    try {
      do {
        watched.again = false
        next = await watched.look?.()
      } while (watched.again)
    } finally {
      watched.looking = false
    }
    if (next) dueBy(next)
  }

  function clear(): void {
    const watched = state()
    if (watched.timer) clearTimeout(watched.timer)
    watched.timer = null
    watched.at = Number.POSITIVE_INFINITY
  }

  return { watch, dueBy }
}
