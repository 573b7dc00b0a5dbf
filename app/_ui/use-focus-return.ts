'use client'
import { useEffect } from 'react'

const LAYERS = '[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"]'
/** Openers that may have gone meanwhile, such as an entry of a menu, have others before them. */
const REMEMBERED = 5

/**
 * Gives the focus back to where it was when a dialog goes away. A dialog that is closed by not being drawn any more has
 * no moment of closing in which it could do so itself.
 */
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
      // The usual case, and a cheap one: what had the focus is still there.
      if (document.activeElement !== document.body) return
      const gone = changes.flatMap(({ removedNodes }) => [...removedNodes])
      const layer = gone.some(
        (node) => node instanceof HTMLElement && (node.matches(LAYERS) || node.querySelector(LAYERS)),
      )
      // After the dialog's own attempt, which knows better.
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
