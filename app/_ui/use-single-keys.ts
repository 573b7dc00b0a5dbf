'use client'
import { useEffect, useRef } from 'react'
import { shortcutKey } from './keys'
import { singleKeysAllowed } from './single-keys'

/**
 * Single-letter shortcuts, active while no field has the focus, no dialog is open, and the user has not turned them
 * off.
 */
export function useSingleKeys(keys: Record<string, () => void>): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      if (!singleKeysAllowed(event)) return
      const key = shortcutKey(event)
      const act = Object.hasOwn(latest.current, key) ? latest.current[key] : undefined
      if (!act) return
      event.preventDefault()
      act()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}
