import type { Definition } from '@/server/definition/schema'
import { definitionOf } from '../model/definition'
import { merge, sameDefinition } from '../model/merge'
import type { DraftServer, Failure, Loaded } from './draft-server'
import { type DraftAction, type DraftState, isDirty, type Saved, type SaveState } from './draft-state'

/** Failures that can pass by themselves. */
const TEMPORARY = ['UNAVAILABLE', 'RATE_LIMITED', 'INTERNAL']
/** Edits during a save make another round; after this many, the next autosave continues. */
const MAX_ROUNDS = 20

export interface SaverOptions {
  server: DraftServer
  getState(): DraftState
  dispatch(action: DraftAction): void
  now(): number
  /** Makes every field commit what is being typed. */
  flushFields(): void
  /** Called after another person's changes became part of the draft. */
  onMerged(text: string): void
}

export interface Saver {
  /** Saves everything, after the save that is under way, if any. @returns whether the server has everything now */
  save(): Promise<boolean>
  /** Merges a newer version from the server, unless there is something to save, which would find it anyway. */
  checkForNewer(): Promise<void>
}

/** Saves a draft: one request at a time, on top of the newest version, merging what other people saved. */
export function createSaver(options: SaverOptions): Saver {
  const { server, getState, dispatch, now, flushFields, onMerged } = options
  let running: Promise<boolean> | null = null
  let queued: Promise<boolean> | null = null

  function save(): Promise<boolean> {
    if (!running) return start()
    // Everybody who waits shares one save: two at once would build on the same version, and the second would conflict.
    queued ??= running.then(() => {
      queued = null
      return start()
    })
    return queued
  }

  function start(): Promise<boolean> {
    const run = saveAll().finally(() => {
      if (running === run) running = null
    })
    running = run
    return run
  }

  async function saveAll(): Promise<boolean> {
    for (let rounds = 0; isDirty(getState()) && rounds < MAX_ROUNDS; rounds++) {
      if (getState().save.kind === 'conflict') return false
      dispatch({ type: 'saving' })
      try {
        await saveOnce()
      } catch (error) {
        const failure = await mergeOrFail(error)
        if (failure) {
          // An undo during the save may have left nothing to save.
          const save = isDirty(getState()) ? stoppedBy(failure) : ({ kind: 'saved', at: null } as const)
          dispatch({ type: 'stopped', save })
          return false
        }
      }
    }
    const dirty = isDirty(getState())
    if (dirty && getState().save.kind === 'saving') dispatch({ type: 'stopped', save: { kind: 'unsaved' } })
    return !dirty
  }

  async function saveOnce(): Promise<void> {
    const { history, base, baseLayout } = getState()
    const { definition, layout } = history.present
    if (definition !== base.definition) {
      const { version, publishedVersion } = await server.own.during(server.save(definitionOf(definition), base.version))
      dispatch({ type: 'saved', base: { version, definition }, publishedVersion, at: now() })
    }
    if (layout !== baseLayout) {
      await server.saveLayout(layout)
      dispatch({ type: 'layout-saved', layout, at: now() })
    }
  }

  /**
   * After VERSION_CONFLICT merges the newer version and continues the save.
   * @returns the failure that remains
   */
  async function mergeOrFail(error: unknown): Promise<Failure | null> {
    const failure = server.failureOf(error)
    if (failure.code !== 'VERSION_CONFLICT') return failure
    try {
      mergeNewer(await server.load())
      return null
    } catch (loadError) {
      return server.failureOf(loadError)
    }
  }

  async function checkForNewer(): Promise<void> {
    if (isDirty(getState()) || running) return
    const underWay = server.own.underWay()
    if (underWay) await underWay
    const theirs = await server.load().catch(() => null)
    // A save that started since then handles newer versions itself, and this answer may already include its work.
    if (theirs && !running) mergeNewer(theirs)
  }

  function mergeNewer(theirs: Loaded): void {
    // What is being typed counts as ours: otherwise the field would be overwritten by what comes in.
    flushFields()
    const { base, history, publishedVersion } = getState()
    // Older than ours when one of our saves overtook this answer.
    if (theirs.version < base.version) return
    if (theirs.version > base.version) mergeVersion(theirs, base, history.present.definition)
    // After a conflict, the version that is published may be one that we do not have yet.
    const published = theirs.publishedVersion ?? 0
    if (published > (publishedVersion ?? 0) && published <= getState().base.version)
      dispatch({ type: 'published', version: published })
  }

  function mergeVersion(theirs: Loaded, base: Saved, ours: Definition): void {
    // Saved by a screen that has closed, while this one opened.
    const own = server.own.include(base.version, theirs.version)
    if (own && !isDirty(getState())) {
      dispatch({ type: 'reset', base: theirs, layout: theirs.layout })
      return
    }
    const { merged, conflicts } = merge(base.definition, ours, theirs.definition)
    if (conflicts.length > 0) {
      dispatch({ type: 'stopped', save: { kind: 'conflict', theirs: { ...theirs, by: theirs.updatedBy } } })
      return
    }
    const definition = sameDefinition(merged, theirs.definition) ? theirs.definition : merged
    const by = theirs.updatedBy
    const label = own || by === null ? 'load what you saved before' : `merge the changes of ${by}`
    dispatch({ type: 'merged', base: theirs, definition, label, at: now() })
    if (own) return
    const what = by === null ? 'What you saved in another tab or browser' : `What ${by} saved`
    onMerged(`${what} was merged into this draft. Undo removes it again.`)
  }

  return { save, checkForNewer }
}

function stoppedBy({ code, message, details }: Failure): SaveState {
  if (code === 'UNREACHABLE') return { kind: 'offline' }
  const [first] = details
  const detail = first ? ` ${first.path ?? ''} ${first.message}` : ''
  return { kind: 'failed', message: `${message.replace(/\.$/, '')}.${detail}`, temporary: TEMPORARY.includes(code) }
}
