'use client'
import { useCallback, useEffect, useRef, useState } from 'react'

/** A field commits this long after the last keystroke: each commit renders the whole editor. */
const COMMIT_AFTER_MS = 150

/**
 * Text that shows every keystroke immediately and commits shortly after; `flush` commits now (on blur). A value from
 * elsewhere (undo, a merge) replaces the text.
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
  const lastValue = useRef(value)

  const flush = useCallback(() => {
    clearTimeout(timer.current)
    const next = pending.current
    pending.current = null
    if (next === null || next === lastValue.current) return
    lastValue.current = next
    latest.current(next)
  }, [])

  useEffect(() => {
    if (value === lastValue.current) return
    lastValue.current = value
    pending.current = null
    setShown(value)
  }, [value])

  // Commits before the field unmounts, and before a save.
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

/** Makes every field commit its typed text: before a save, a test run and a publish. */
export function flushFields(): void {
  window.dispatchEvent(new Event(FLUSH_EVENT))
}
