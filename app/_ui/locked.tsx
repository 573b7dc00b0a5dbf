'use client'
import { type ReactNode, useLayoutEffect, useRef } from 'react'
import styles from './locked.module.css'

/**
 * The fields of a form, which nobody can edit while it is being sent: their edits would be lost. Afterwards the focus
 * returns to where it was, unless it has gone elsewhere.
 */
export function Locked({ locked, children }: { locked: boolean; children: ReactNode }) {
  const focused = useRef<Element | null>(null)
  // A browser takes the focus from a disabled field only later.
  useLayoutEffect(() => {
    if (locked) {
      focused.current = document.activeElement
      return
    }
    const before = focused.current
    focused.current = null
    if (document.activeElement === document.body && before instanceof HTMLElement) before.focus()
  }, [locked])
  return (
    <fieldset role="presentation" disabled={locked} className={styles.fields}>
      {children}
    </fieldset>
  )
}
