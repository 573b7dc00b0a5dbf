import { processWide } from '@/db/process-wide'

interface Reading {
  at: number
  value: Promise<unknown>
}

/** Caches a reading for this long, and shares one between concurrent callers. */
export function cachedFor<T>(name: string, ms: number, read: () => Promise<T>): Promise<T> {
  const state = processWide<{ reading: Reading | null }>(name, () => ({ reading: null }))
  if (!state.reading || performance.now() - state.reading.at > ms) {
    state.reading = { at: performance.now(), value: read() }
  }
  // Each name stands for one kind of reading.
  return state.reading.value as Promise<T>
}
