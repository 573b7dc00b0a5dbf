import type { DraftCopies } from './draft-copies'
import {
  contentOf,
  type DraftState,
  initialDraft,
  isBehind,
  isDirty,
  joined,
  type Opened,
  type Step,
} from './draft-state'
import { sameJson } from './json'

export const AUTOSAVE_AFTER_MS = 1_200
export const RETRY_EVERY_MS = 5_000
export const KEEP_AFTER_MS = 250
/** Edits during a save make another round; after this many, the next autosave continues. */
const MAX_ROUNDS = 20
/** Failed saves of one draft follow each other; only some of them may have arrived. */
const MAX_SENT = 9
/** Failures that can pass by themselves. */
const TEMPORARY = ['UNAVAILABLE', 'RATE_LIMITED', 'INTERNAL']

interface Failure {
  code: string
  message: string
}

export interface DraftServer<T> {
  open(): Promise<Opened<T>>
  /** @throws VERSION_CONFLICT when `revision` is not the newest */
  save(draft: { content: T | null; revision: number; baseVersion: number }): Promise<Opened<T>['draft']>
  readVersion(version: number): Promise<T>
  failureOf(error: unknown): Failure
}

export interface DraftStoreOptions<T> {
  opened: Opened<T>
  server: DraftServer<T>
  copies: DraftCopies<T>
  /** Calls back once, later. @returns cancels it */
  after(ms: number, callback: () => void): () => void
  now(): string
  readOnly: boolean
  /** What was saved elsewhere, by the same person or by others, became part of a draft that was being edited. */
  onMerged(by: string | null, you: boolean): void
  /** Changes that an earlier page left behind are in the draft again. */
  onRecovered(at: string): void
}

export interface DraftStore<T> {
  getState(): DraftState<T>
  subscribe(listener: () => void): () => void
  change(patch: Partial<T>): void
  /** @returns whether the server has everything now */
  saveNow(): Promise<boolean>
  /** Joins what the server has, unless it is known already or something is on its way there. */
  adopt(opened: Opened<T>): Promise<void>
  /** Ends a conflict. */
  choose(side: 'mine' | 'theirs'): void
  /** Goes back to the latest version. */
  discard(): void
  setReadOnly(readOnly: boolean): void
  /** The network is back. */
  online(): void
  /** The page may close in a moment. Once this returns, this browser has every unsaved change. */
  leaving(): void
  /** @returns stops autosave and saves what is left */
  start(): () => void
}

/**
 * A draft that saves itself and merges what others save, field by field. Until the server has a change, this browser
 * keeps a copy. Nothing is overwritten unseen.
 */
export function createDraftStore<T extends object>(options: DraftStoreOptions<T>): DraftStore<T> {
  const { server, copies, after, now, onMerged, onRecovered } = options
  let { readOnly } = options
  let state = initialDraft(options.opened)
  let running: Promise<boolean> | null = null
  let started = false
  /** What was sent without an answer. The server may have it all the same, and then it is no change of others. */
  let sent: T[] = []
  const cancel = { autosave: () => {}, retry: () => {}, keep: () => {} }
  const listeners = new Set<() => void>()

  function set(next: Partial<DraftState<T>>): void {
    state = { ...state, ...next }
    for (const listener of listeners) listener()
  }

  /** What is to be done after an edit or an answer. */
  function settle(): void {
    if (running || state.save.kind === 'conflict') return
    cancel.autosave()
    if (!isDirty(state)) {
      cancel.keep()
      copies.forget()
      if (state.save.kind !== 'saved') set({ save: { kind: 'saved' } })
      return
    }
    if (state.save.kind !== 'offline') set({ save: { kind: 'unsaved' } })
    if (started && !readOnly) cancel.autosave = after(AUTOSAVE_AFTER_MS, () => void saveNow())
  }

  function keep(): void {
    cancel.keep()
    if (!readOnly && isDirty(state)) copies.keep({ base: contentOf(state.known), sent, value: state.value, at: now() })
  }

  function saveNow(): Promise<boolean> {
    if (readOnly || !isDirty(state)) return Promise.resolve(true)
    running ??= saveAll().finally(() => {
      running = null
      if (state.save.kind === 'saving') settle()
    })
    return running
  }

  async function saveAll(): Promise<boolean> {
    cancel.autosave()
    cancel.retry()
    for (let rounds = 0; isDirty(state) && rounds < MAX_ROUNDS; rounds++) {
      if (state.save.kind === 'conflict') return false
      set({ save: { kind: 'saving' } })
      try {
        await saveOnce()
      } catch (error) {
        const failure = await joinOrFail(error)
        if (failure) return stopWith(failure)
      }
    }
    return !isDirty(state)
  }

  async function saveOnce(): Promise<void> {
    const { value, baseVersion, known } = state
    const isVersion = baseVersion === known.version && sameJson(value, known.content)
    const content = isVersion ? null : value
    sent = [...sent.slice(-MAX_SENT), value]
    const draft = await server.save({ content, revision: known.draft.revision, baseVersion })
    sent = []
    set({ known: { ...state.known, draft: { ...draft, content } } })
  }

  /** After VERSION_CONFLICT joins what somebody else saved. @returns the failure that remains */
  async function joinOrFail(error: unknown): Promise<Failure | null> {
    const failure = server.failureOf(error)
    if (failure.code !== 'VERSION_CONFLICT') return failure
    try {
      await join(await server.open())
      return null
    } catch (joinError) {
      return server.failureOf(joinError)
    }
  }

  function stopWith({ code, message }: Failure): boolean {
    const temporary = TEMPORARY.includes(code)
    set({ save: code === 'UNREACHABLE' ? { kind: 'offline' } : { kind: 'failed', message, temporary } })
    if (started && (temporary || code === 'UNREACHABLE')) cancel.retry = after(RETRY_EVERY_MS, () => void saveNow())
    return false
  }

  async function join(opened: Opened<T>): Promise<void> {
    const { known } = state
    // From before a save of ours that overtook this answer.
    if (opened.version < known.version || opened.draft.revision < known.draft.revision) return
    const steps = [since(sent, contentOf(known), contentOf(opened))]
    const behind = isBehind(opened) && !readOnly
    if (behind) steps.push({ base: await server.readVersion(opened.draft.baseVersion), theirs: opened.content })
    if (state.known !== known) return
    apply(opened, { steps, baseVersion: behind ? opened.version : opened.draft.baseVersion })
  }

  function apply(opened: Opened<T>, merge: { steps: Step<T>[]; baseVersion: number }): void {
    const mine = isDirty(state)
    set(joined(state, opened, merge))
    if (state.save.kind === 'conflict') {
      cancel.autosave()
      keep()
    } else if (mine) onMerged(opened.draft.byName, opened.draft.byYou)
  }

  /** Takes over what an earlier page left behind. */
  function recover(): void {
    const copy = readOnly ? null : copies.find()
    if (!copy || sameJson(copy.value, contentOf(state.known))) {
      copies.forget()
      return
    }
    const { known, baseVersion } = state
    // As it was when the copy was made: if somebody has to choose, the next copy is based on that too.
    state = { ...state, value: copy.value, known: { ...known, draft: { ...known.draft, content: copy.base } } }
    set(joined(state, known, { steps: [since(copy.sent, copy.base, contentOf(known))], baseVersion }))
    keep()
    onRecovered(copy.at)
  }

  return {
    getState: () => state,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    change(patch) {
      if (readOnly) return
      set({ value: { ...state.value, ...patch } })
      cancel.keep()
      cancel.keep = after(KEEP_AFTER_MS, keep)
      settle()
    },
    saveNow,
    async adopt(opened) {
      const { version, draft } = state.known
      if (running || (opened.version === version && opened.draft.revision === draft.revision)) return
      await join(opened)
      settle()
    },
    choose(side) {
      const { save } = state
      if (save.kind !== 'conflict') return
      set(joined(state, save.opened, save, side))
      settle()
      void saveNow()
    },
    discard() {
      const { content, version } = state.known
      set({ value: content, baseVersion: version, save: { kind: 'unsaved' } })
      settle()
      void saveNow()
    },
    setReadOnly(next) {
      if (readOnly === next) return
      readOnly = next
      settle()
    },
    online() {
      if (state.save.kind === 'offline') void saveNow()
    },
    leaving: keep,
    start() {
      started = true
      recover()
      if (isBehind(state.known) && state.save.kind !== 'conflict') void join(state.known).then(settle, () => {})
      settle()
      return () => {
        keep()
        started = false
        for (const stop of Object.values(cancel)) stop()
        void saveNow()
      }
    },
  }
}

/** What others changed since `base`: nothing, if the server has what this page sent. */
function since<T>(sent: readonly T[], base: T, theirs: T): Step<T> {
  return { base: sent.some((one) => sameJson(one, theirs)) ? theirs : base, theirs }
}
