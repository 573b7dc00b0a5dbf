import { processWide } from '@/db/process-wide'
import { now } from './clock'

/** `setTimeout` cannot wait longer; a timer that fires early only checks again. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

interface State {
  /** Answers everything due. @returns the next due time */
  look: (() => Promise<Date | null>) | null
  timer: NodeJS.Timeout | null
  at: number
  looking: boolean
  /** Something became due while a check was running. */
  again: boolean
}

/** One timer for all due times of a kind, however many. */
export interface DueTimer {
  /**
   * Starts the timer with a check for everything already due.
   * @param look answers everything due; returns the next due time
   * @returns a function that stops it
   */
  watch(look: () => Promise<Date | null>): () => void
  /** Informs the timer of a due time. Does nothing in a process that does not watch. */
  dueBy(time: Date): void
}

/** @param kind the kind of due times, for this process's state */
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

  /** One check at a time: if something becomes due in the meantime, another check follows. */
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
