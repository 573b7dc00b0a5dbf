import { useEffect, useRef } from 'react'
import { shortcutKey } from './keys'

/**
 * Ctrl+S, or Command+S on a Mac, also while a field or the code editor has the focus. Suppresses the browser's dialog
 * for saving the page.
 */
export function useSaveKey(save: () => void): void {
  const latest = useRef(save)
  latest.current = save
  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey || shortcutKey(event) !== 's') return
      event.preventDefault()
      latest.current()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
}
