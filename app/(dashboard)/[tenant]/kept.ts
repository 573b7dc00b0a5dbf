import { localStorageOrNull } from './_draft/page'

/** The text stored in this browser under a key; null if missing or if storage is unavailable. */
export function readKept(key: string): string | null {
  return localStorageOrNull()?.getItem(key) ?? null
}

/**
 * Stores a text in this browser, or removes it. If storage is full or unavailable, the text lives only as long as the
 * page.
 */
export function keep(key: string, text: string | null): void {
  try {
    if (text === null) localStorageOrNull()?.removeItem(key)
    else localStorageOrNull()?.setItem(key, text)
  } catch {}
}
