'use client'
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { connectToPage, localStorageOrNull, useLeaveWarning } from '../../../_versioned/draft-page'
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
  useLeaveWarning(state.save.kind)
  return useMemo(() => ({ ...store, state }), [store, state])
}

const clock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}
