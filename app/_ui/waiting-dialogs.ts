import { network } from './network'

let count = 0
const listeners = new Set<() => void>()

function change(by: number): void {
  count += by
  for (const listener of listeners) listener()
}

/** The dialogs that people opened and whose code has not been loaded yet. */
export const waitingDialogs = {
  /** Counts one more, until the returned function is called. */
  add: (): (() => void) => {
    change(1)
    return () => change(-1)
  },
  /** Whether one of them waits for the network. */
  isAway: (): boolean => count > 0 && network.isAway(),
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener)
    const stop = network.subscribe(listener)
    return () => {
      listeners.delete(listener)
      stop()
    }
  },
}
