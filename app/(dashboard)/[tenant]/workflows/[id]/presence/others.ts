import { useSyncExternalStore } from 'react'
import type { Present } from '@/server/live/places'
import { colorsOf } from './initials'

/** Somebody else who is here, with the number of their colour. */
export interface Other extends Present {
  color: number
}

const NOBODY: readonly Other[] = []

// One editor is open at a time. The header finds out who is here; canvas and outline show where.
let others = NOBODY
const listeners = new Set<() => void>()

export function setOthers(people: readonly Present[]): void {
  const colors = colorsOf(people.map(({ id }) => id))
  const now = people.map((person, index) => ({ ...person, color: colors[index] ?? 0 }))
  if (JSON.stringify(now) === JSON.stringify(others)) return
  others = now
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Who else has the workflow open, and where. */
export function useOthers(): readonly Other[] {
  return useSyncExternalStore(
    subscribe,
    () => others,
    () => NOBODY,
  )
}
