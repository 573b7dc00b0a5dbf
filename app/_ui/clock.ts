'use client'
import { useSyncExternalStore } from 'react'
import type { ZoneChoice } from './time-format'

const ZONE = 'millrace-time-zone'
const zoneListeners = new Set<() => void>()

function subscribeZone(listener: () => void): () => void {
  zoneListeners.add(listener)
  window.addEventListener('storage', listener)
  return () => {
    zoneListeners.delete(listener)
    window.removeEventListener('storage', listener)
  }
}

/** The zone this person reads times in; UTC until the page runs in their browser. */
export function useZone(): ZoneChoice {
  return useSyncExternalStore(
    subscribeZone,
    () => (window.localStorage.getItem(ZONE) === 'UTC' ? 'UTC' : 'local'),
    () => 'UTC',
  )
}

export function setZone(zone: ZoneChoice): void {
  window.localStorage.setItem(ZONE, zone)
  for (const listener of zoneListeners) listener()
}

/** One timer for everything on the page that shows how long ago or since when. */
let now = 0
let timer: ReturnType<typeof setInterval> | undefined
const listeners = new Set<() => void>()

function subscribeClock(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    if (document.visibilityState !== 'visible') return
    now = Date.now()
    for (const tell of listeners) tell()
  }, 1_000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

const never = () => () => {}

/** The present moment to the second, ticking while `live`; null on the server, whose moment is another. */
export function useNow(live = true): number | null {
  return useSyncExternalStore<number | null>(
    live ? subscribeClock : never,
    () => {
      if (now === 0) now = Date.now()
      return now
    },
    () => null,
  )
}
