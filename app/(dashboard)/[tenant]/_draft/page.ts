'use client'
import { useEffect } from 'react'

/** A draft's reactions to its page's lifecycle. */
export interface PageDraft {
  /** @returns a function that stops it */
  start(): () => void
  saveNow(): Promise<unknown>
  /** Stores a copy in the browser: the page may be gone the next moment. */
  leaving(): void
  online(): void
  /** The page is visible again. */
  shown?(): void
}

/** Starts the draft, and notifies it when the page is hidden, shown or left. @returns a function that stops both */
export function connectToPage(draft: PageDraft): () => void {
  const onVisibility = () => {
    if (document.visibilityState === 'visible') return draft.shown?.()
    // A phone may close a hidden page without another event.
    draft.leaving()
    void draft.saveNow()
  }
  const stop = draft.start()
  document.addEventListener('visibilitychange', onVisibility)
  window.addEventListener('pagehide', draft.leaving)
  window.addEventListener('online', draft.online)
  return () => {
    document.removeEventListener('visibilitychange', onVisibility)
    window.removeEventListener('pagehide', draft.leaving)
    window.removeEventListener('online', draft.online)
    stop()
  }
}

/**
 * Warns before the page is left while the copy in this browser is the only one. `saving` is the kind of the save's
 * state.
 */
export function useLeaveWarning(saving: string): void {
  useEffect(() => {
    if (saving !== 'failed' && saving !== 'conflict' && saving !== 'offline') return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [saving])
}

/** Reading the property throws where the browser blocks storage. */
export function localStorageOrNull(): Storage | null {
  try {
    return window.localStorage
  } catch {
    return null
  }
}
