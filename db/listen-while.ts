import type { Subscription } from '@/db/listen'
import { processWide } from './process-wide'

/** A process that uses it repeatedly need not connect each time. */
const IDLE_MS = 20_000

interface State {
  users: number
  open: Subscription | null
  timer: NodeJS.Timeout | null
}

/** A subscription that stays open while in use, and for a moment longer. */
export interface SharedSubscription {
  /** @returns a function that ends the use, and a promise that settles when it first listens */
  use(): { ready: Promise<void>; release(): void }
}

/**
 * Listens only during use, for processes that are suspended between requests: an idle connection of each would fill the
 * database.
 * @param name identifies the subscription in this process's state
 */
export function listenWhile(name: string, subscribe: () => Subscription): SharedSubscription {
  const state = () => processWide<State>(`listening.${name}`, () => ({ users: 0, open: null, timer: null }))
  const close = () => {
    const own = state()
    own.open?.close()
    own.open = null
  }
  return {
    use() {
      const own = state()
      own.users++
      if (own.timer) clearTimeout(own.timer)
      own.timer = null
      own.open ??= subscribe()
      let used = true
      return {
        ready: own.open.ready,
        release() {
          if (!used) return
          used = false
          own.users--
          if (own.users === 0) own.timer = setTimeout(close, IDLE_MS).unref()
        },
      }
    },
  }
}
