import type { DraftCopies, FoundCopy } from './copies'
import { canRetry, type Failure, type SaveState, stoppedBy } from './save-state'

export const AUTOSAVE_AFTER_MS = 1_200
export const RETRY_EVERY_MS = 5_000
/** How often a draft without unsaved changes checks for newer ones, if it checks at all. */
export const CHECK_EVERY_MS = 20_000
export const KEEP_AFTER_MS = 250
/** A call that takes longer counts as lost: its response may never arrive, and it blocks all other saves. */
export const ANSWER_WITHIN_MS = 30_000
/** Edits during a save make another round; after this many, the next autosave continues. */
const MAX_ROUNDS = 20
/** Failed saves of one draft follow each other; only some of them may have arrived. */
const MAX_SENT = 10

export interface Clock {
  /** Milliseconds. */
  now(): number
  /** Calls back once, later. @returns cancels it */
  after(ms: number, callback: () => void): () => void
}

/** A draft's data with its save state. */
export type State<D extends object, C extends object> = D & { save: SaveState<C> }

/** Makes one call to the server. */
export type Ask = <R>(call: (signal: AbortSignal) => Promise<R>) => Promise<R>

/** The differences between kinds of drafts. `T` is the edited content, `Theirs` the server's response. */
export interface DraftKind<D extends object, T extends object, Theirs> {
  isDirty(draft: D): boolean
  /** The page's content. */
  valueOf(draft: D): T
  /** The server's last known content. */
  baseOf(draft: D): T
  /**
   * Sends the changes that the server lacks, and updates the draft with each response.
   * @throws VERSION_CONFLICT if a newer one exists
   */
  send(ask: Ask): Promise<void>
  load(signal: AbortSignal): Promise<Theirs>
  /**
   * Joins the server's content with the draft, or makes it a conflict.
   * @param sent content sent without a response: the server may have it anyway, and then nobody else changed it
   */
  join(theirs: Theirs, sent: readonly T[], ask: Ask): void | Promise<void>
  /** Explains an error thrown by any of these calls. */
  failureOf(error: unknown): Failure
}

export interface DraftOptions<T> {
  copies: DraftCopies<T>
  clock: Clock
  readOnly: boolean
  /** Whether to check for newer drafts; true while the page is visible. */
  checks?: () => boolean
  /** Makes every field commit its typed text. */
  flushFields?(): void
}

export type DraftCore<D extends object, C extends object, T extends object, Theirs> = ReturnType<
  typeof createDraftCore<D, C, T, Theirs>
>

/**
 * A draft that saves itself, one request at a time, on top of the server's latest content, and joins other users'
 * saves. This device holds a copy until the server has a change. Nothing is overwritten unseen.
 */
export function createDraftCore<D extends object, C extends object, T extends object, Theirs>(
  initial: D,
  kind: DraftKind<D, T, Theirs>,
  options: DraftOptions<T>,
) {
  const { copies, clock, checks, flushFields = () => {} } = options
  let state: State<D, C> = { ...initial, save: { kind: 'saved', at: null } }
  let dirty = kind.isDirty(state)
  let { readOnly } = options
  let started = false
  let running: Promise<boolean> | null = null
  let queued: Promise<boolean> | null = null
  let sent: T[] = []
  /** The draft whose copy this device has. */
  let kept: D | null = null
  const listeners = new Set<() => void>()
  const cancel = { autosave: () => {}, retry: () => {}, check: () => {}, keep: () => {} }

  function put(patch: Partial<D>, saveOf: () => SaveState<C>): void {
    const before = state
    const wasDirty = dirty
    state = { ...state, ...patch }
    const edited = isEdited(before, state)
    if (edited) dirty = kind.isDirty(state)
    state = { ...state, save: saveOf() }
    // Once the draft matches the server, through a save or an undo, nothing is left to restore.
    if (wasDirty && !dirty) forget()
    else if (edited) scheduleKeep()
    if (edited || state.save.kind !== before.save.kind) scheduleAutosave()
    if (canRetry(state.save) !== canRetry(before.save)) scheduleRetry()
    for (const listener of listeners) listener()
  }

  const setSave = (save: SaveState<C>) => put({}, () => save)
  const confirm = (patch: Partial<D>, at: number | null = null) =>
    put(patch, () => (dirty ? { kind: 'unsaved' } : { kind: 'saved', at }))

  function afterEdit(): SaveState<C> {
    const { save } = state
    if (save.kind === 'saving' || save.kind === 'conflict') return save
    if (!dirty) return { kind: 'saved', at: null }
    return save.kind === 'offline' ? save : { kind: 'unsaved' }
  }

  function scheduleAutosave(): void {
    cancel.autosave()
    if (!started || readOnly || !dirty || state.save.kind !== 'unsaved') return
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
    if (!checks) return
    cancel.check = clock.after(CHECK_EVERY_MS, () => {
      scheduleCheck()
      shown()
    })
  }

  function scheduleKeep(): void {
    cancel.keep()
    if (started && !readOnly && dirty) cancel.keep = clock.after(KEEP_AFTER_MS, () => void keep())
  }

  const copyOf = () => {
    return { base: kind.baseOf(state), sent, value: kind.valueOf(state), at: new Date(clock.now()).toISOString() }
  }

  async function keep(): Promise<boolean> {
    const keeping = state
    if (!dirty) return false
    const written = await copies.keep(copyOf())
    if (written && dirty) kept = keeping
    return written
  }

  function forget(): void {
    cancel.keep()
    kept = null
    void copies.forget()
  }

  /** The page may close in a moment. When this returns, this device has every unsaved change. */
  function leaving(): void {
    flushFields()
    if (readOnly || !dirty || (kept && !isEdited(kept, state))) return
    if (!copies.keepNow(copyOf())) void keep()
  }

  function ask<R>(call: (signal: AbortSignal) => Promise<R>): Promise<R> {
    const lost = new AbortController()
    return new Promise<R>((resolve, reject) => {
      const stop = clock.after(ANSWER_WITHIN_MS, () => {
        reject(new NoAnswer())
        lost.abort()
      })
      call(lost.signal).then(resolve, reject).finally(stop)
    })
  }

  /** Saves everything, after the save in progress, if any. @returns whether the server has everything now */
  async function saveNow(): Promise<boolean> {
    flushFields()
    // An undo during a save leaves nothing unsaved only once that save is over.
    if (readOnly || (!dirty && !running)) return true
    if (!running) return startSave()
    // All waiting callers share one save: two concurrent saves would build on the same version, and the second would
    // conflict.
    queued ??= running.then(() => {
      queued = null
      return startSave()
    })
    return queued
  }

  function startSave(): Promise<boolean> {
    const run = saveAll().finally(() => {
      if (running === run) running = null
    })
    running = run
    return run
  }

  async function saveAll(): Promise<boolean> {
    for (let rounds = 0; dirty && rounds < MAX_ROUNDS; rounds++) {
      if (state.save.kind === 'conflict') return false
      setSave({ kind: 'saving' })
      const sending = state
      try {
        noteSent(kind.valueOf(state))
        await kind.send(ask)
        sent = []
      } catch (error) {
        const failure = await joinOrFail(error)
        if (failure) return stop(failure, sending)
      }
    }
    if (state.save.kind === 'saving') confirm({})
    return !dirty
  }

  function noteSent(value: T): void {
    const last = sent.at(-1)
    if (!last || isEdited(last, value)) sent = [...sent, value].slice(-MAX_SENT)
  }

  /** After VERSION_CONFLICT joins the other save. @returns the remaining failure */
  async function joinOrFail(error: unknown): Promise<Failure | null> {
    const failure = failureOf(error)
    if (failure.code !== 'VERSION_CONFLICT') return failure
    try {
      await join(await ask(kind.load))
      return null
    } catch (joinError) {
      return failureOf(joinError)
    }
  }

  function stop(failure: Failure, sending: D): false {
    const stopped = stoppedBy(failure)
    // An undo during the save may have left nothing to save, and the server has not rejected later edits.
    if (!dirty) setSave({ kind: 'saved', at: null })
    else setSave(isEdited(sending, state) && !canRetry(stopped) ? { kind: 'unsaved' } : stopped)
    return false
  }

  function failureOf(error: unknown): Failure {
    return error instanceof NoAnswer ? error : kind.failureOf(error)
  }

  async function join(theirs: Theirs): Promise<void> {
    // Typed text counts as ours: otherwise the incoming value would overwrite the field.
    flushFields()
    await kind.join(theirs, sent, ask)
  }

  /** Joins the server's current content, unless this page has something to save. */
  async function checkForNewer(): Promise<void> {
    if (dirty || running) return
    const theirs = await ask(kind.load).catch(() => null)
    // A save that started meanwhile handles newer drafts itself, and this response may already include its work.
    if (theirs && !running) await join(theirs)
  }

  /** The page is visible again. */
  function shown(): void {
    if (checks?.()) void checkForNewer()
  }

  return {
    getState: () => state,
    subscribe(listener: () => void) {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
    /**
     * Changes the page's content. After a failure an edit justifies another save; a conflict still waits for the user.
     */
    edit: (patch: Partial<D>) => put(patch, afterEdit),
    /** Updates the known server content, or ends a conflict. Concurrent edits still need saving. */
    confirm,
    /** Changes only data that is not saved. */
    note: (patch: Partial<D>) => put(patch, () => state.save),
    /** Blocks saving until the user has chosen. */
    askPerson: (conflict: C) => setSave({ kind: 'conflict', ...conflict }),
    isReadOnly: () => readOnly,
    setReadOnly(next: boolean) {
      readOnly = next
      scheduleAutosave()
      scheduleKeep()
    },
    saveNow,
    /** Explains an error of any call that `ask` made. */
    failureOf,
    /** Joins the server's content, unless a save is in progress, which would find it anyway. */
    async join(theirs: Theirs) {
      if (!running) await join(theirs)
    },
    checkForNewer,
    /** Replaces the draft with a copy. Once this page has a copy of its own, it removes the found one. */
    async takeOver(copy: FoundCopy<T>, patch: Partial<D>) {
      sent = copy.sent
      confirm(patch)
      if (!dirty || (await keep())) await copies.forget(copy)
    },
    /** The network is back. */
    online() {
      if (canRetry(state.save)) void saveNow()
    },
    shown,
    leaving,
    /** Starts autosave and the checks for newer drafts. @returns a function that stops both and saves the rest */
    start() {
      started = true
      scheduleAutosave()
      scheduleRetry()
      scheduleCheck()
      scheduleKeep()
      return () => {
        leaving()
        void saveNow()
        started = false
        for (const stop of Object.values(cancel)) stop()
      }
    },
  }
}

/** A call without a response in time. */
class NoAnswer extends Error implements Failure {
  code = 'UNREACHABLE'
  details = []
}

/** Whether anything besides the save state changed. */
function isEdited<D extends object>(before: D, after: D): boolean {
  const names = Object.keys(after) as (keyof D)[]
  return names.some((name) => name !== 'save' && before[name] !== after[name])
}
