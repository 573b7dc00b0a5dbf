import type { Definition } from '@/server/definition/schema'
import type { FoundCopy } from '../../../_draft/copies'
import { createDraftCore, type DraftCore, type DraftOptions } from '../../../_draft/core'
import { definitionOf } from '../model/definition'
import { merge, sameDefinition } from '../model/merge'
import type { DraftServer, Loaded } from './draft-server'
import { type Conflict, type Draft, type DraftData, isDirty, type Saved, startingFrom } from './draft-state'
import { record, redo, replacePresent, undo } from './history'

/** A copy's content on this device: a draft, and the server's version when the copy was made. */
export interface Kept extends Draft {
  version: number
}

export interface DraftStoreOptions extends DraftOptions<Kept> {
  loaded: Loaded
  server: DraftServer
  /** Whether the page is visible. */
  checks(): boolean
  flushFields(): void
  /** Called after another user's changes were merged into the draft. */
  onMerged(text: string): void
}

type Core = DraftCore<DraftData, Conflict, Kept, Loaded>

export interface DraftStore
  extends Pick<Core, 'getState' | 'subscribe' | 'saveNow' | 'setReadOnly' | 'online' | 'shown' | 'leaving' | 'start'> {
  change(label: string, command: (draft: Draft) => Draft, target?: string): void
  undo(): void
  redo(): void
  /** Ends a conflict with the definition that the user chose. */
  resolve(chosen: Definition): void
  /** Ends a conflict by dropping this side's changes. */
  takeTheirs(): void
  published(version: number): void
  /** The server restored a version; the draft starts over from it. */
  restored(version: Saved): void
  /** Changes from an earlier visit that the server still lacks, or null. */
  findUnsaved(): Promise<FoundCopy<Kept> | null>
  restoreUnsaved(copy: FoundCopy<Kept>): void
  discardUnsaved(copy: FoundCopy<Kept>): void
}

/** The draft of a workflow: with a history, merged by step and field, saved as versions. */
export function createDraftStore(options: DraftStoreOptions): DraftStore {
  const { loaded, server, copies, clock, checks, onMerged } = options
  let firstCheck: Promise<void> | null = null
  const core: Core = createDraftCore<DraftData, Conflict, Kept, Loaded>(
    { ...startingFrom(loaded, loaded.layout), publishedVersion: loaded.publishedVersion },
    {
      isDirty,
      valueOf: ({ history, base }) => ({ version: base.version, ...history.present }),
      baseOf: ({ base, baseLayout }) => ({ ...base, layout: baseLayout }),
      async send(ask) {
        const { history, base, baseLayout } = core.getState()
        const { definition, layout } = history.present
        if (definition !== base.definition) {
          const save = (signal: AbortSignal) => server.save(definitionOf(definition), base.version, signal)
          const { version, publishedVersion } = await ask((signal) => server.own.during(save(signal)))
          core.confirm({ base: { version, definition }, publishedVersion }, clock.now())
        }
        if (layout !== baseLayout) {
          await ask((signal) => server.saveLayout(layout, signal)).catch((error: unknown) => {
            // The server may have either layout: until a save succeeds, even an undo has something to save.
            if (core.failureOf(error).code === 'UNREACHABLE') core.note({ baseLayout: { ...baseLayout } })
            throw error
          })
          core.confirm({ baseLayout: layout }, clock.now())
        }
      },
      async load(signal) {
        const underWay = server.own.underWay()
        if (underWay) await underWay
        return server.load(signal)
      },
      join: joinNewer,
      failureOf: server.failureOf,
    },
    options,
  )
  let known = core.getState()
  core.subscribe(() => {
    const { base, baseLayout, publishedVersion } = core.getState()
    const isKnown = base === known.base && baseLayout === known.baseLayout
    if (!isKnown || publishedVersion !== known.publishedVersion)
      server.remember({ ...base, layout: baseLayout, publishedVersion })
    known = core.getState()
  })

  function joinNewer(theirs: Loaded, sent: readonly Draft[]): void {
    const { base, history, publishedVersion } = core.getState()
    // Older than ours if one of our saves overtook this response.
    if (theirs.version < base.version) return
    if (theirs.version > base.version) {
      if (sent.some(({ definition }) => sameDefinition(definition, theirs.definition))) joinSent(theirs)
      else joinVersion(theirs, base, history.present.definition)
    }
    // After a conflict, this page may not have the published version yet.
    const published = theirs.publishedVersion ?? 0
    if (published > (publishedVersion ?? 0) && published <= core.getState().base.version) notePublished(published)
  }

  /** Joins a save of ours whose response was lost: later edits go on top of it, and nothing changes on the page. */
  function joinSent(theirs: Loaded): void {
    const { definition } = core.getState().history.present
    core.confirm({ base: sameDefinition(definition, theirs.definition) ? { ...theirs, definition } : theirs })
  }

  function joinVersion(theirs: Loaded, base: Saved, ours: Definition): void {
    // Saved by a screen that closed while this one opened.
    const own = server.own.include(base.version, theirs.version)
    if (own && !isDirty(core.getState())) {
      core.confirm(startingFrom(theirs, theirs.layout))
      return
    }
    const { merged, conflicts } = merge(base.definition, ours, theirs.definition)
    const by = theirs.updatedBy
    if (conflicts.length > 0) {
      core.askPerson({ theirs: { ...theirs, by } })
      return
    }
    confirmMerged(theirs, merged, own || by === null ? 'load what you saved before' : `merge the changes of ${by}`)
    if (own) return
    const what = by === null ? 'What you saved in another tab or browser' : `What ${by} saved`
    onMerged(`${what} was merged into this draft. Undo removes it again.`)
  }

  /** Joins another version with ours; one undo removes their part from the draft. */
  function confirmMerged(base: Saved, merged: Definition, label: string): void {
    const { history } = core.getState()
    const { present } = history
    const definition = sameDefinition(merged, base.definition) ? base.definition : merged
    core.confirm({
      base,
      history:
        definition === present.definition
          ? replacePresent(history, present)
          : record(history, { ...present, definition }, { label, at: clock.now() }),
    })
  }

  /** Published here or by another user; that may have made the saved definition the next version. */
  function notePublished(version: number): void {
    const { base } = core.getState()
    core.note({ publishedVersion: version, base: version > base.version ? { ...base, version } : base })
  }

  return {
    ...core,
    change(label, command, target) {
      const { history } = core.getState()
      const draft = core.isReadOnly() ? history.present : command(history.present)
      if (draft !== history.present) core.edit({ history: record(history, draft, { label, target, at: clock.now() }) })
    },
    undo: () => core.edit({ history: undo(core.getState().history) }),
    redo: () => core.edit({ history: redo(core.getState().history) }),
    resolve(chosen) {
      const { save } = core.getState()
      if (save.kind !== 'conflict') return
      confirmMerged(save.theirs, chosen, 'resolve the conflict')
      void core.saveNow()
    },
    takeTheirs() {
      const { save, history } = core.getState()
      if (save.kind === 'conflict') core.confirm(startingFrom(save.theirs, history.present.layout))
    },
    published(version) {
      server.own.add(version)
      notePublished(version)
    },
    restored(base) {
      server.own.add(base.version)
      core.confirm(startingFrom(base, core.getState().history.present.layout))
    },
    async findUnsaved() {
      const copy = await copies.find()
      if (!copy) return null
      // The page may have opened with a version older than the server's current one.
      await firstCheck
      if (!sameDefinition(copy.value.definition, core.getState().base.definition)) return copy
      void copies.forget(copy)
      return null
    },
    restoreUnsaved(copy) {
      const { version, definition: base } = copy.base
      const { definition, layout } = copy.value
      const from = startingFrom({ version, definition: base }, core.getState().baseLayout)
      const change = { label: 'restore unsaved changes', at: clock.now() }
      void core.takeOver(copy, { ...from, history: record(from.history, { definition, layout }, change) })
      void core.saveNow()
    },
    discardUnsaved: (copy) => void copies.forget(copy),
    start() {
      // The editor may have opened with cached data.
      if (checks()) firstCheck = core.checkForNewer()
      return core.start()
    },
  }
}
