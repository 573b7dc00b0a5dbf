'use client'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { createDraftCopies } from './copies'
import { copyDatabase } from './copy-database'
import type { DraftOptions } from './core'
import { connectToPage, localStorageOrNull, type PageDraft, useLeaveWarning } from './page'
import type { SaveState } from './save-state'

interface Store<S> extends PageDraft {
  getState(): S
  subscribe(listener: () => void): () => void
  setReadOnly(readOnly: boolean): void
}

/**
 * A draft while its page is open, with its state at this render.
 * @param create is called once
 * @param options.name names the draft's copies on this device
 * @param options.fields the fields that a copy, perhaps made by another release, must have
 */
export function useDraftStore<T extends object, S extends { save: SaveState }, D extends Store<S>>(
  create: (options: DraftOptions<T>) => D & Store<S>,
  { name, fields, readOnly }: { name: string; fields: readonly string[]; readOnly: boolean },
): { store: D; state: S } {
  const [store] = useState(() => create({ readOnly, clock, copies: copiesOf<T>(name, fields) }))
  const state = useSyncExternalStore(store.subscribe, store.getState, store.getState)
  useEffect(() => store.setReadOnly(readOnly), [store, readOnly])
  useEffect(() => connectToPage(store), [store])
  useLeaveWarning(state.save.kind)
  return { store, state }
}

function copiesOf<T extends object>(draft: string, fields: readonly string[]) {
  const isWhole = (content: object) => fields.every((field) => Object.hasOwn(content, field))
  // Also rendered on the server, which needs no name.
  const page = typeof window === 'undefined' ? '' : window.crypto.getRandomValues(new Uint32Array(2)).join('-')
  return createDraftCopies<T>({ draft, page, isWhole, database: copyDatabase, storage: localStorageOrNull })
}

const clock = {
  now: () => Date.now(),
  after(ms: number, callback: () => void) {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}
