import type { Definition } from '@/server/definition/schema'
import { sameDefinition } from '../model/merge'
import type { DeviceCopies, DeviceCopy } from './device-copies'
import type { DraftServer, Loaded } from './draft-server'
import {
  type Draft,
  type DraftAction,
  type DraftState,
  initialState,
  isDirty,
  reduceDraft,
  type Saved,
  type SaveState,
} from './draft-state'
import { createSaver } from './saver'

export const AUTOSAVE_AFTER_MS = 1_200
export const RETRY_EVERY_MS = 5_000
/**
 * How often a draft without unsaved changes checks for changes by other people, in case it does not hear of them: presence
 * tells at once (`presence/here.tsx`).
 */
export const CHECK_EVERY_MS = 20_000
export const KEEP_AFTER_MS = 250

export interface Clock {
  now(): number
  /** Calls back once, later. @returns cancels it */
  after(ms: number, callback: () => void): () => void
}

export interface DraftStoreOptions {
  loaded: Loaded
  server: DraftServer
  copies: DeviceCopies
  clock: Clock
  readOnly: boolean
  /** Whether somebody can see the page. */
  isVisible(): boolean
  /** Makes every field commit what is being typed. */
  flushFields(): void
  /** Called after another person's changes became part of the draft. */
  onMerged(text: string): void
}

export interface DraftStore {
  getState(): DraftState
  subscribe(listener: () => void): () => void
  change(label: string, command: (draft: Draft) => Draft, target?: string): void
  undo(): void
  redo(): void
  /** @returns whether the server has everything now */
  saveNow(): Promise<boolean>
  /** Ends a conflict with the definition a person chose. */
  resolve(chosen: Definition): void
  /** Ends a conflict by dropping this side's changes. */
  takeTheirs(): void
  published(version: number): void
  /** The server restored a version; the draft starts over from it. */
  restored(version: Saved): void
  /** Changes from an earlier visit that the server still lacks, or null. */
  findUnsaved(): Promise<DeviceCopy | null>
  restoreUnsaved(copy: DeviceCopy): void
  discardUnsaved(copy: DeviceCopy): void
  setReadOnly(readOnly: boolean): void
  /** The network or the page's visibility changed. */
  online(): void
  shown(): void
  /** The page may close in a moment. Once this returns, this device has every unsaved change. */
  leaving(): void
  /** Starts autosave and the checks for newer versions. @returns stops both and saves what is left */
  start(): () => void
}

/**
 * A draft with its history, which saves itself and merges what other people save. Until the server has a change, this
 * device keeps a copy. Nothing is overwritten unseen.
 */
export function createDraftStore(options: DraftStoreOptions): DraftStore {
  const { loaded, server, copies, clock, isVisible, flushFields, onMerged } = options
  let state = initialState(loaded, loaded.layout, loaded.publishedVersion)
  let { readOnly } = options
  let started = false
  let firstCheck: Promise<void> | null = null
  /** The last known content of the copy on this device. */
  let kept: { draft: Draft; base: Saved } | null = null
  const listeners = new Set<() => void>()
  const cancel = { autosave: () => {}, retry: () => {}, check: () => {}, keep: () => {} }
  const getState = () => state
  const saver = createSaver({ server, getState, dispatch, now: clock.now, flushFields, onMerged })

  function dispatch(...actions: DraftAction[]): void {
    const before = state
    state = actions.reduce(reduceDraft, before)
    if (state === before) return
    scheduleAfter(before)
    rememberAfter(before)
    for (const listener of listeners) listener()
  }

  function scheduleAfter(before: DraftState): void {
    const edited = state.history.present !== before.history.present
    const rebased = state.base !== before.base
    // However the draft came to match the server (a save, an undo), nothing is left to restore.
    if (isDirty(before) && !isDirty(state)) forgetCopies()
    else if (edited || rebased) scheduleKeep()
    if (edited || state.save.kind !== before.save.kind || isDirty(state) !== isDirty(before)) scheduleAutosave()
    if (canRetry(state.save) !== canRetry(before.save)) scheduleRetry()
  }

  function rememberAfter(before: DraftState): void {
    const { base, baseLayout, publishedVersion } = state
    if (base === before.base && baseLayout === before.baseLayout && publishedVersion === before.publishedVersion) return
    server.remember({ ...base, layout: baseLayout, publishedVersion })
  }

  function scheduleAutosave(): void {
    cancel.autosave()
    if (!started || readOnly || !isDirty(state) || state.save.kind !== 'unsaved') return
    cancel.autosave = clock.after(AUTOSAVE_AFTER_MS, () => void saveNow())
  }

  function scheduleRetry(): void {
    cancel.retry()
    if (!started || !canRetry(state.save)) return
    cancel.retry = clock.after(RETRY_EVERY_MS, () => {
      scheduleRetry()
      void saveNow()
    })
  }

  function scheduleCheck(): void {
    cancel.check()
    cancel.check = clock.after(CHECK_EVERY_MS, () => {
      scheduleCheck()
      shown()
    })
  }

  function scheduleKeep(): void {
    cancel.keep()
    if (started && !readOnly && isDirty(state)) cancel.keep = clock.after(KEEP_AFTER_MS, keep)
  }

  function keep(): void {
    const { history, base } = state
    if (!isDirty(state)) return
    void copies.write(copyOf(state, clock.now())).then((written) => {
      if (written) kept = { draft: history.present, base }
    })
  }

  function forgetCopies(): void {
    cancel.keep()
    kept = null
    void copies.remove(state.base.version)
  }

  function leaving(): void {
    flushFields()
    if (readOnly || !isDirty(state)) return
    if (kept?.draft === state.history.present && kept.base === state.base) return
    if (!copies.writeNow(copyOf(state, clock.now()))) keep()
  }

  async function saveNow(): Promise<boolean> {
    flushFields()
    return readOnly || saver.save()
  }

  function shown(): void {
    if (isVisible()) void saver.checkForNewer()
  }

  return {
    getState,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    change(label, command, target) {
      if (readOnly) return
      const draft = command(state.history.present)
      if (draft === state.history.present) return
      dispatch({ type: 'change', draft, label, target, at: clock.now() })
    },
    undo: () => dispatch({ type: 'undo' }),
    redo: () => dispatch({ type: 'redo' }),
    saveNow,
    resolve(chosen) {
      const { save } = state
      if (save.kind !== 'conflict') return
      const definition = sameDefinition(chosen, save.theirs.definition) ? save.theirs.definition : chosen
      dispatch({ type: 'merged', base: save.theirs, definition, label: 'resolve the conflict', at: clock.now() })
      void saveNow()
    },
    takeTheirs() {
      const { save, history } = state
      if (save.kind === 'conflict') dispatch({ type: 'reset', base: save.theirs, layout: history.present.layout })
    },
    published(version) {
      server.own.add(version)
      dispatch({ type: 'published', version })
    },
    restored(base) {
      server.own.add(base.version)
      dispatch({ type: 'reset', base, layout: state.history.present.layout })
    },
    async findUnsaved() {
      const copy = await copies.read()
      if (!copy) return null
      // The page may have opened with an older version than the server has by now.
      await firstCheck
      if (!sameDefinition(copy.definition, state.base.definition)) return copy
      void copies.remove(copy.baseVersion)
      return null
    },
    restoreUnsaved(copy) {
      const { baseVersion, base, definition, layout } = copy
      dispatch(
        { type: 'reset', base: { version: baseVersion, definition: base }, layout: state.baseLayout },
        { type: 'change', draft: { definition, layout }, label: 'restore unsaved changes', at: clock.now() },
      )
      void saveNow()
    },
    discardUnsaved: (copy) => void copies.remove(copy.baseVersion),
    setReadOnly(next) {
      readOnly = next
      scheduleAutosave()
      scheduleKeep()
    },
    online() {
      if (canRetry(state.save)) void saveNow()
    },
    shown,
    leaving,
    start() {
      started = true
      // What opened the editor may come from a cache.
      if (isVisible()) firstCheck = saver.checkForNewer()
      scheduleAutosave()
      scheduleRetry()
      scheduleCheck()
      scheduleKeep()
      return () => {
        leaving()
        if (isDirty(state)) void saveNow()
        started = false
        for (const stop of Object.values(cancel)) stop()
      }
    },
  }
}

/** Whether another try without a change can help. */
function canRetry(save: SaveState): boolean {
  return save.kind === 'offline' || (save.kind === 'failed' && save.temporary)
}

function copyOf({ history, base }: DraftState, savedAt: number): DeviceCopy {
  const { definition, layout } = history.present
  return { baseVersion: base.version, base: base.definition, definition, layout, savedAt }
}
