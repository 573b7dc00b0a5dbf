'use client'
import { useEffect, useMemo } from 'react'
import { notifyDone } from '@/app/_ui/notify'
import { useDraftStore } from '../_draft/use-draft-store'
import { type DraftState, isDirty, type Opened } from './draft-state'
import { createDraftStore, type DraftServer, type DraftStore } from './draft-store'

/**
 * A draft that saves itself while the page is open. The first call sets `server`.
 * @param opened the server's last known state
 * @param name names the draft's copies on this device
 */
export function useDraft<T extends object>(
  opened: Opened<T>,
  { server, name, readOnly }: { server: DraftServer<T>; name: string; readOnly: boolean },
) {
  const { store, state } = useDraftStore<T, DraftState<T>, DraftStore<T>>(
    (options) => createDraftStore<T>({ ...options, opened, server, onMerged, onRecovered }),
    { name, fields: Object.keys(opened.content), readOnly },
  )
  useEffect(() => {
    // If joining fails, the next response retries it.
    store.adopt(opened).catch(() => {})
  }, [store, opened])
  return useMemo(() => ({ ...store, ...state, dirty: isDirty(state) }), [store, state])
}

function onMerged(by: string | null, you: boolean) {
  const what = you ? 'What you changed in another tab or browser' : by ? `What ${by} changed` : 'A newer version'
  notifyDone(`${what} was merged into your draft.`)
}

const onRecovered = () => notifyDone('What you typed here before, and could not be saved, is in the draft again.')
