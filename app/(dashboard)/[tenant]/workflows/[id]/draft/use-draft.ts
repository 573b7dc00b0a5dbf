'use client'
import { useMemo } from 'react'
import { useDraftStore } from '../../../_draft/use-draft-store'
import type { DraftServer, Loaded } from './draft-server'
import type { DraftState } from './draft-state'
import { createDraftStore, type DraftStore, type Kept } from './draft-store'
import { flushFields } from './use-committed'

/** A draft with its state at this render. */
export interface DraftControl extends DraftStore {
  state: DraftState
}

/** The draft of one workflow while its editor is open. The first call sets `loaded` and `server`. */
export function useDraft(options: {
  tenantId: string
  workflowId: string
  loaded: Loaded
  server: DraftServer
  readOnly: boolean
  /** Called after another user's changes were merged into the draft. */
  onMerged: (text: string) => void
}): DraftControl {
  const { tenantId, workflowId, readOnly, ...rest } = options
  const { store, state } = useDraftStore<Kept, DraftState, DraftStore>(
    (page) => createDraftStore({ ...page, ...rest, checks: isVisible, flushFields }),
    { name: `${tenantId}:${workflowId}`, fields: ['version', 'definition', 'layout'], readOnly },
  )
  return useMemo(() => ({ ...store, state }), [store, state])
}

const isVisible = () => document.visibilityState === 'visible'
