import { useSyncExternalStore } from 'react'
import type { Present } from '@/server/live/places'
import { colorsOf } from './initials'

/** Another user who is here, with the number of their colour. */
export interface Other extends Present {
  color: number
}

const NOBODY: readonly Other[] = []

// Only one editor is open at a time. The header fetches who is here; canvas and outline show where.
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

/** The other users with the workflow open, and their steps. */
export function useOthers(): readonly Other[] {
  return useSyncExternalStore(
    subscribe,
    () => others,
    () => NOBODY,
  )
}
