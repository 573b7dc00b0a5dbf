import { createDraftCore, type DraftCore, type DraftOptions } from '../_draft/core'
import type { Failure } from '../_draft/save-state'
import {
  type Conflict,
  contentOf,
  type DraftData,
  isBehind,
  isDirty,
  joined,
  type Opened,
  type Step,
} from './draft-state'
import { sameJson } from './json'

export interface DraftServer<T> {
  open(signal: AbortSignal): Promise<Opened<T>>
  /** @throws VERSION_CONFLICT when `revision` is not the newest */
  save(
    draft: { content: T | null; revision: number; baseVersion: number },
    signal: AbortSignal,
  ): Promise<Opened<T>['draft']>
  readVersion(version: number): Promise<T>
  failureOf(error: unknown): Failure
}

export interface DraftStoreOptions<T> extends DraftOptions<T> {
  opened: Opened<T>
  server: DraftServer<T>
  /** Changes saved elsewhere, by the same user or by others, were merged into a draft with unsaved edits. */
  onMerged(by: string | null, you: boolean): void
  /** The draft again contains changes left by an earlier page. */
  onRecovered(at: string): void
}

type Core<T extends object> = DraftCore<DraftData<T>, Conflict<T>, T, Opened<T>>

export interface DraftStore<T extends object>
  extends Pick<Core<T>, 'getState' | 'subscribe' | 'saveNow' | 'setReadOnly' | 'online' | 'leaving' | 'start'> {
  change(patch: Partial<T>): void
  /** Joins the server's content, unless it is already known or a save is in progress. */
  adopt(opened: Opened<T>): Promise<void>
  /** Ends a conflict. */
  choose(side: 'mine' | 'theirs'): void
  /** Reverts to the latest version. */
  discard(): void
}

/** The draft of an agent or a tool: a form beside its versions, merged by field. */
export function createDraftStore<T extends object>(options: DraftStoreOptions<T>): DraftStore<T> {
  const { opened: known, server, copies, onMerged, onRecovered } = options
  const core: Core<T> = createDraftCore<DraftData<T>, Conflict<T>, T, Opened<T>>(
    { value: contentOf(known), baseVersion: known.draft.baseVersion, known },
    {
      isDirty,
      valueOf: ({ value }) => value,
      baseOf: ({ known }) => contentOf(known),
      async send(ask) {
        const { value, baseVersion, known } = core.getState()
        const isVersion = baseVersion === known.version && sameJson(value, known.content)
        const content = isVersion ? null : value
        const { revision } = known.draft
        const draft = await ask((signal) => server.save({ content, revision, baseVersion }, signal))
        core.confirm({ known: { ...core.getState().known, draft: { ...draft, content } } })
      },
      load: server.open,
      async join(opened, sent, ask) {
        const { known } = core.getState()
        // Predates a save of ours that overtook this response.
        if (opened.version < known.version || opened.draft.revision < known.draft.revision) return
        const steps = [since(sent, contentOf(known), contentOf(opened))]
        const behind = isBehind(opened) && !core.isReadOnly()
        if (behind) {
          const base = await ask(() => server.readVersion(opened.draft.baseVersion))
          steps.push({ base, theirs: opened.content })
        }
        if (core.getState().known !== known) return
        const mine = isDirty(core.getState())
        const conflict = apply(opened, { steps, baseVersion: behind ? opened.version : opened.draft.baseVersion })
        if (mine && !conflict) onMerged(opened.draft.byName, opened.draft.byYou)
      },
      failureOf: server.failureOf,
    },
    options,
  )

  /** @returns whether the user must choose */
  function apply(
    opened: Opened<T>,
    merge: Pick<Conflict<T>, 'steps' | 'baseVersion'>,
    side?: 'mine' | 'theirs',
  ): boolean {
    const join = joined(core.getState().value, opened, merge, side)
    if ('draft' in join) core.confirm(join.draft)
    else core.askPerson(join.conflict)
    return 'conflict' in join
  }

  /** Restores changes left by an earlier page. */
  async function recover(): Promise<void> {
    const copy = core.isReadOnly() ? null : await copies.find()
    if (!copy) return
    const state = core.getState()
    const { known, baseVersion } = state
    if (sameJson(copy.value, contentOf(known))) return copies.forget(copy)
    // The user typed before the copy was found. The copy stays for the next page.
    if (isDirty(state)) return
    // Uses the base of the copy, so that in a conflict the next copy shares it.
    void core.takeOver(copy, { value: copy.value, known: { ...known, draft: { ...known.draft, content: copy.base } } })
    apply(known, { steps: [since(copy.sent, copy.base, contentOf(known))], baseVersion })
    onRecovered(copy.at)
  }

  async function catchUp(): Promise<void> {
    await recover()
    const { known, save } = core.getState()
    if (isBehind(known) && save.kind !== 'conflict') await core.join(known)
  }

  return {
    ...core,
    change(patch) {
      if (!core.isReadOnly()) core.edit({ value: { ...core.getState().value, ...patch } })
    },
    async adopt(opened) {
      const { version, draft } = core.getState().known
      if (opened.version !== version || opened.draft.revision !== draft.revision) await core.join(opened)
    },
    choose(side) {
      const { save } = core.getState()
      if (save.kind !== 'conflict') return
      apply(save.opened, save, side)
      void core.saveNow()
    },
    discard() {
      const { content, version } = core.getState().known
      core.confirm({ value: content, baseVersion: version })
      void core.saveNow()
    },
    start() {
      // If this fails, the next response retries it.
      void catchUp().catch(() => {})
      return core.start()
    },
  }
}

/** Other users' changes since `base`; none if the server has content sent by this page. */
function since<T>(sent: readonly T[], base: T, theirs: T): Step<T> {
  return { base: sent.some((one) => sameJson(one, theirs)) ? theirs : base, theirs }
}
