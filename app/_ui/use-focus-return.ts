'use client'
import { useEffect } from 'react'

const LAYERS = '[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]'
/** The number of earlier focus positions to remember: the latest opener may be gone, such as a menu item. */
const REMEMBERED = 5

/** Restores the focus when a dialog disappears. A dialog that is no longer rendered cannot do so itself. */
export function useFocusReturn(): void {
  useEffect(() => {
    let before: HTMLElement[] = []
    const remember = ({ target }: FocusEvent) => {
      if (!(target instanceof HTMLElement) || target === document.body || target.closest(LAYERS)) return
      before = [target, ...before.filter((known) => known !== target)].slice(0, REMEMBERED)
    }
    const restore = () => {
      if (document.activeElement !== document.body || document.querySelector('[role="dialog"], [role="alertdialog"]'))
        return
      before.find((element) => element.isConnected && element.checkVisibility())?.focus({ preventScroll: true })
    }
    const observer = new MutationObserver((changes) => {
      // The common case, and a cheap check: the focused element still exists.
      if (document.activeElement !== document.body) return
      const gone = changes.flatMap(({ removedNodes }) => [...removedNodes])
      const layer = gone.some(
        (node) => node instanceof HTMLElement && (node.matches(LAYERS) || node.querySelector(LAYERS)),
      )
      // Runs after the dialog's own attempt, which takes precedence.
      if (layer) setTimeout(restore)
    })
    document.addEventListener('focusin', remember)
    observer.observe(document.body, { childList: true, subtree: true })
    return () => {
      document.removeEventListener('focusin', remember)
      observer.disconnect()
    }
  }, [])
}
