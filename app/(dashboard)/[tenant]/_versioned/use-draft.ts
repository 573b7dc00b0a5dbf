'use client'
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { notifyDone } from '@/app/_ui/notify'
import { createDraftCopies } from './draft-copies'
import { connectToPage, localStorageOrNull, useLeaveWarning } from './draft-page'
import { isDirty, type Opened } from './draft-state'
import { createDraftStore, type DraftServer } from './draft-store'

/**
 * A draft that saves itself while the page is open. The first call sets `server`.
 * @param opened the server's last known state
 * @param name names the draft's copies in this browser
 */
export function useDraft<T extends object>(
  opened: Opened<T>,
  { server, name, readOnly }: { server: DraftServer<T>; name: string; readOnly: boolean },
) {
  const [store] = useState(() => newStore(opened, server, name, readOnly))
  const state = useSyncExternalStore(store.subscribe, store.getState, store.getState)
  useEffect(() => store.setReadOnly(readOnly), [store, readOnly])
  useEffect(() => connectToPage(store), [store])
  useEffect(() => {
    // If joining fails, the next response retries it.
    store.adopt(opened).catch(() => {})
  }, [store, opened])
  useLeaveWarning(state.save.kind)
  return useMemo(() => ({ ...store, ...state, dirty: isDirty(state) }), [store, state])
}

function newStore<T extends object>(opened: Opened<T>, server: DraftServer<T>, name: string, readOnly: boolean) {
  const fields = Object.keys(opened.content)
  const isWhole = (value: object) => fields.every((field) => Object.hasOwn(value, field))
  // Also rendered on the server, which needs no name.
  const page = typeof window === 'undefined' ? '' : window.crypto.getRandomValues(new Uint32Array(2)).join('-')
  return createDraftStore<T>({
    opened,
    server,
    readOnly,
    copies: createDraftCopies({ draft: name, page, isWhole, storage: localStorageOrNull }),
    after(ms, callback) {
      const timer = setTimeout(callback, ms)
      return () => clearTimeout(timer)
    },
    now: () => new Date().toISOString(),
    onMerged(by, you) {
      const what = you ? 'What you changed in another tab or browser' : by ? `What ${by} changed` : 'A newer version'
      notifyDone(`${what} was merged into your draft.`)
    },
    onRecovered: () => notifyDone('What you typed here before, and could not be saved, is in the draft again.'),
  })
}
