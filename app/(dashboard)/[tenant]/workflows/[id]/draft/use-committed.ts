'use client'
import { useCallback, useEffect, useRef, useState } from 'react'

/** So long after the last keystroke a field tells what is in it: each telling draws the whole editor anew. */
const COMMIT_AFTER_MS = 150

/**
 * Text that is typed into at once and told shortly after; `flush` tells now (on blur). A value that comes from
 * elsewhere (undo, a merge) replaces what is shown.
 */
export function useCommitted(
  value: string,
  onCommit: (value: string) => void,
): { text: string; setText: (text: string) => void; flush: () => void } {
  const [text, setShown] = useState(value)
  const pending = useRef<string | null>(null)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const latest = useRef(onCommit)
  latest.current = onCommit
  const told = useRef(value)

  const flush = useCallback(() => {
    clearTimeout(timer.current)
    const next = pending.current
    pending.current = null
    if (next === null || next === told.current) return
    told.current = next
    latest.current(next)
  }, [])

  useEffect(() => {
    if (value === told.current) return
    told.current = value
    pending.current = null
    setShown(value)
  }, [value])

  // A field that leaves the screen takes nothing with it; a save takes what is still being typed along.
  useEffect(() => {
    window.addEventListener(FLUSH_EVENT, flush)
    return () => {
      window.removeEventListener(FLUSH_EVENT, flush)
      flush()
    }
  }, [flush])

  const setText = useCallback(
    (next: string) => {
      setShown(next)
      pending.current = next
      clearTimeout(timer.current)
      timer.current = setTimeout(flush, COMMIT_AFTER_MS)
    },
    [flush],
  )
  return { text, setText, flush }
}

const FLUSH_EVENT = 'millrace-flush-fields'

/** Makes every field tell what is in it: before a save, a test and a publish. */
export function flushFields(): void {
  window.dispatchEvent(new Event(FLUSH_EVENT))
}
