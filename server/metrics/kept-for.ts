import { processWide } from '@/db/process-wide'

interface Reading {
  at: number
  value: Promise<unknown>
}

/** Reads at most once in so long, however often it is asked, and for all who ask at once. */
export function keptFor<T>(name: string, ms: number, read: () => Promise<T>): Promise<T> {
  const state = processWide<{ reading: Reading | null }>(name, () => ({ reading: null }))
  if (!state.reading || performance.now() - state.reading.at > ms) {
    state.reading = { at: performance.now(), value: read() }
  }
  // The name stands for one kind of reading.
  return state.reading.value as Promise<T>
}
