'use client'
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { copyDatabase } from './copy-database'
import { createDeviceCopies } from './device-copies'
import type { DraftServer, Loaded } from './draft-server'
import type { DraftState } from './draft-state'
import { type Clock, createDraftStore, type DraftStore } from './draft-store'
import { flushFields } from './use-committed'

/** A draft with its state as of this render. */
export interface DraftControl extends DraftStore {
  state: DraftState
}

/** The draft of one workflow, for as long as its editor is open. `loaded` and `server` are those of the first call. */
export function useDraft(options: {
  tenantId: string
  workflowId: string
  loaded: Loaded
  server: DraftServer
  readOnly: boolean
  /** Called after another person's changes became part of the draft. */
  onMerged: (text: string) => void
}): DraftControl {
  const { readOnly } = options
  const [store] = useState(() => {
    const { tenantId, workflowId, ...rest } = options
    const copies = createDeviceCopies({ tenantId, workflowId, database: copyDatabase, storage: localStorageOrNull })
    const isVisible = () => document.visibilityState === 'visible'
    return createDraftStore({ ...rest, copies, clock, isVisible, flushFields })
  })
  const state = useSyncExternalStore(store.subscribe, store.getState, store.getState)
  useEffect(() => store.setReadOnly(readOnly), [store, readOnly])
  useEffect(() => connectToPage(store), [store])
  useLeaveWarning(state)
  return useMemo(() => ({ ...store, state }), [store, state])
}

const clock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}

function connectToPage(store: DraftStore): () => void {
  const onVisibility = () => {
    if (document.visibilityState === 'visible') return store.shown()
    // A phone may close a hidden page without another event.
    store.leaving()
    void store.saveNow()
  }
  const stop = store.start()
  document.addEventListener('visibilitychange', onVisibility)
  window.addEventListener('pagehide', store.leaving)
  window.addEventListener('online', store.online)
  return () => {
    document.removeEventListener('visibilitychange', onVisibility)
    window.removeEventListener('pagehide', store.leaving)
    window.removeEventListener('online', store.online)
    stop()
  }
}

/** Asks before the page is left while the copy on this device is all there is. */
function useLeaveWarning({ save: { kind } }: DraftState): void {
  useEffect(() => {
    if (kind !== 'failed' && kind !== 'conflict' && kind !== 'offline') return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [kind])
}

/** Reading the property throws where the browser blocks storage. */
function localStorageOrNull(): Storage | null {
  try {
    return window.localStorage
  } catch {
    return null
  }
}
