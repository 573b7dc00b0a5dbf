'use client'
import { useRouter } from 'next/navigation'
import { useEffect, useRef } from 'react'
import { shortcutKey } from '@/app/_ui/keys'
import { notifyDone } from '@/app/_ui/notify'
import { singleKeysAllowed } from '@/app/_ui/single-keys'
import { useTenant } from './tenant-context'
import { usePlaces } from './use-places'

/** How long to wait for the second key after G. */
const SECOND_MS = 1_500

/** Keyboard shortcuts that work on every screen. */
export function useGlobalKeys(act: { palette: () => void; sheet: () => void }): void {
  const router = useRouter()
  const { path } = useTenant()
  const places = usePlaces()
  const latest = useRef({ act, path, places, router })
  latest.current = { act, path, places, router }
  useEffect(() => {
    let waitsSince = Number.NEGATIVE_INFINITY
    function onKey(event: KeyboardEvent) {
      const { act, path, places, router } = latest.current
      const key = shortcutKey(event)
      if ((event.metaKey || event.ctrlKey) && !event.altKey && !event.shiftKey) {
        if (key.toLowerCase() === 'k') act.palette()
        else if (key === '.') void copyLink()
        else return
        return take(event)
      }
      if (!singleKeysAllowed(event) || onCanvas(event.target)) return
      const second = event.timeStamp - waitsSince < SECOND_MS
      waitsSince = Number.NEGATIVE_INFINITY
      if (second) {
        const place = places.find((one) => one.key === key.toLowerCase())
        if (!place) return
        router.push(path(place.href))
        take(event)
      } else if (key === 'g') {
        waitsSince = event.timeStamp
        // Prefetched between the two keys, a page shows its placeholder immediately.
        for (const { href } of places) router.prefetch(path(href))
      } else if (key === '?') {
        act.sheet()
        take(event)
      }
    }
    // Runs before the screens' own shortcuts, so that the letter after G does not trigger one of them.
    window.addEventListener('keydown', onKey, { capture: true })
    return () => window.removeEventListener('keydown', onKey, { capture: true })
  }, [])
}

function take(event: KeyboardEvent): void {
  event.preventDefault()
  event.stopImmediatePropagation()
}

/** On the canvas, letters search for a step by name. */
function onCanvas(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('.react-flow') !== null
}

async function copyLink(): Promise<void> {
  await navigator.clipboard.writeText(window.location.href)
  notifyDone('Copied the link to this screen.')
}
