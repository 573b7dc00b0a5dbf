'use client'
import { createContext, useCallback, useContext, useEffect, useRef } from 'react'

/** The name of the draft on the page, for the texts of its fields. */
export const UnfinishedTexts = createContext<string | null>(null)

const PREFIX = 'millrace-text:'

/**
 * Keeps a text that cannot be part of the draft yet, such as half a schema, in this browser until it can.
 * @param onKept called once with what an earlier page left
 * @returns keeps the text; null forgets it
 */
export function useUnfinished(field: string, onKept: (text: string) => void): (text: string | null) => void {
  const draft = useContext(UnfinishedTexts)
  const key = draft === null ? null : `${PREFIX}${draft}:${field}`
  const call = useRef(onKept)
  call.current = onKept
  useEffect(() => {
    const kept = key === null ? null : storage()?.getItem(key)
    if (typeof kept === 'string') call.current(kept)
  }, [key])
  return useCallback(
    (text) => {
      if (key === null) return
      try {
        if (text === null) storage()?.removeItem(key)
        else storage()?.setItem(key, text)
      } catch {
        // The browser's storage is full; the page still has the text.
      }
    },
    [key],
  )
}

/** Forgets the texts of a draft that starts over. */
export function forgetUnfinished(draft: string): void {
  const store = storage()
  const keys = Array.from({ length: store?.length ?? 0 }, (_, index) => store?.key(index) ?? '')
  for (const key of keys) if (key.startsWith(`${PREFIX}${draft}:`)) store?.removeItem(key)
}

/** Reading the property throws where the browser blocks storage. */
function storage(): Storage | null {
  try {
    return window.localStorage
  } catch {
    return null
  }
}
