import { localStorageOrNull } from './_versioned/draft-page'

/** What this browser keeps under a name; null for nothing, also where it keeps nothing at all. */
export function readKept(key: string): string | null {
  return localStorageOrNull()?.getItem(key) ?? null
}

/** Keeps a text in this browser, or nothing. A browser that is full or keeps nothing has it for as long as the page is open. */
export function keep(key: string, text: string | null): void {
  try {
    if (text === null) localStorageOrNull()?.removeItem(key)
    else localStorageOrNull()?.setItem(key, text)
  } catch {}
}
