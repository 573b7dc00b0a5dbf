'use client'
import { useSyncExternalStore } from 'react'

const PHONE = '(max-width: 48em)'

/**
 * Whether the editor is on a phone, where it opens other views and sheets instead of panels. Known in the first client
 * render and not after an effect: what opens must not depend on effect timing.
 */
export function usePhone(): boolean {
  return useSyncExternalStore(subscribe, isPhone, onServer)
}

function subscribe(changed: () => void): () => void {
  const query = window.matchMedia(PHONE)
  query.addEventListener('change', changed)
  return () => query.removeEventListener('change', changed)
}

function isPhone(): boolean {
  return window.matchMedia(PHONE).matches
}

function onServer(): boolean {
  return false
}
