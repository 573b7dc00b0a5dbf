'use client'
import { useMemo } from 'react'
import { useDraftStore } from '../../../_draft/use-draft-store'
import type { DraftServer, Loaded } from './draft-server'
import type { DraftState } from './draft-state'
import { createDraftStore, type DraftStore, type Kept } from './draft-store'
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
  const { tenantId, workflowId, readOnly, ...rest } = options
  const { store, state } = useDraftStore<Kept, DraftState, DraftStore>(
    (kept) => createDraftStore({ ...kept, ...rest, checks: isVisible, flushFields }),
    { name: `${tenantId}:${workflowId}`, fields: ['version', 'definition', 'layout'], readOnly },
  )
  return useMemo(() => ({ ...store, state }), [store, state])
}

const isVisible = () => document.visibilityState === 'visible'
