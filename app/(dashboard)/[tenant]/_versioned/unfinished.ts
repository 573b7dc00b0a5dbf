'use client'
import { createContext, useCallback, useContext, useEffect, useRef, useSyncExternalStore } from 'react'
import { localStorageOrNull } from '../_draft/page'

/** The name of the draft on the page, used to store unfinished texts of its fields. */
export const UnfinishedTexts = createContext<string | null>(null)

const PREFIX = 'millrace-text:'

/**
 * Stores a text that cannot be part of the draft yet, such as half a schema, in this browser until it can.
 * @param onKept called once with the text left by an earlier page
 * @returns stores the text; null forgets it
 */
export function useUnfinished(field: string, onKept: (text: string) => void): (text: string | null) => void {
  const draft = useContext(UnfinishedTexts)
  const key = draft === null ? null : `${PREFIX}${draft}:${field}`
  const call = useRef(onKept)
  call.current = onKept
  useEffect(() => {
    const kept = key === null ? null : localStorageOrNull()?.getItem(key)
    if (typeof kept === 'string') call.current(kept)
  }, [key])
  return useCallback(
    (text) => {
      if (key === null) return
      try {
        if (text === null) localStorageOrNull()?.removeItem(key)
        else localStorageOrNull()?.setItem(key, text)
      } catch {
        // The browser's storage is full; the page still has the text.
      }
    },
    [key],
  )
}

const never = () => () => {}

/** A field of the draft with an unfinished text, perhaps on a tab not opened yet; null if none. */
export function useUnfinishedField(draft: string): string | null {
  const read = () => keysOf(draft)[0]?.slice(`${PREFIX}${draft}:`.length) ?? null
  return useSyncExternalStore(never, read, () => null)
}

/** Forgets the texts of a draft that starts over. */
export function forgetUnfinished(draft: string): void {
  for (const key of keysOf(draft)) localStorageOrNull()?.removeItem(key)
}

function keysOf(draft: string): string[] {
  const store = localStorageOrNull()
  const keys = Array.from({ length: store?.length ?? 0 }, (_, index) => store?.key(index) ?? '')
  return keys.filter((key) => key.startsWith(`${PREFIX}${draft}:`))
}
