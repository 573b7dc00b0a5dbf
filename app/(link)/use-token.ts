'use client'
import { useSyncExternalStore } from 'react'

/** The part of the URL behind `#`; null until the browser provides it. */
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
