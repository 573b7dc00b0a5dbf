'use client'
import { useSyncExternalStore } from 'react'

/** What stands behind the `#` of the address; null until the browser has told. */
export function useToken(): string | null {
  return useSyncExternalStore(watch, () => window.location.hash.slice(1), nothing)
}

function watch(changed: () => void): () => void {
  window.addEventListener('hashchange', changed)
  return () => window.removeEventListener('hashchange', changed)
}

function nothing(): null {
  return null
}
