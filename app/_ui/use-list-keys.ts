'use client'
import { useEffect, useState } from 'react'
import { shortcutKey } from './keys'
import { singleKeysAllowed } from './single-keys'

/**
 * List shortcuts: J and K move, Enter opens, `/` focuses the search box. Inactive while a field has the focus.
 * @returns the index of the marked row, or -1
 */
export function useListKeys(options: { count: number; open: (index: number) => void; search?: () => void }): number {
  const { count, open, search } = options
  const [marked, setMarked] = useState(-1)
  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      if (!singleKeysAllowed(event)) return
      const key = shortcutKey(event)
      if (key === 'j') setMarked((index) => Math.min(count - 1, index + 1))
      else if (key === 'k') setMarked((index) => Math.max(0, index - 1))
      else if (key === 'Enter' && marked >= 0 && marked < count && isPlain(event.target)) open(marked)
      else if (key === '/' && search) search()
      else return
      event.preventDefault()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [count, open, search, marked])
  return marked < count ? marked : -1
}

/** Enter on a link or button belongs to that control. */
function isPlain(target: EventTarget | null): boolean {
  return !(target instanceof HTMLElement) || target.closest('a, button, summary, [role="button"]') === null
}
