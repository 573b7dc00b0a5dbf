import type { Definition } from '@/server/definition/schema'
import type { Layout } from '../model/definition'
import { createHistory, type History, record, redo, replacePresent, undo } from './history'

/** What a person edits: the definition, and where its steps are on the canvas. */
export interface Draft {
  definition: Definition
  layout: Layout
}

/** A version the server has. */
export interface Saved {
  version: number
  definition: Definition
}

export type SaveState =
  /** `at` is null until something has been saved from this screen. */
  | { kind: 'saved'; at: number | null }
  | { kind: 'unsaved' }
  | { kind: 'saving' }
  | { kind: 'offline' }
  /** `temporary` when trying again later can help. */
  | { kind: 'failed'; message: string; temporary: boolean }
  /**
   * Both sides changed the same things; nothing is saved until a person has chosen. `by` is null when both are the same
   * person.
   */
  | { kind: 'conflict'; theirs: Saved & { by: string | null } }

export interface DraftState {
  history: History<Draft>
  /** The newest version the server has confirmed; the next save builds on it. */
  base: Saved
  /** The layout the server has. */
  baseLayout: Layout
  publishedVersion: number | null
  save: SaveState
}

export type DraftAction =
  | { type: 'change'; draft: Draft; label: string; target?: string | undefined; at: number }
  | { type: 'undo' }
  | { type: 'redo' }
  | { type: 'saving' }
  | { type: 'saved'; base: Saved; publishedVersion: number | null; at: number }
  | { type: 'layout-saved'; layout: Layout; at: number }
  | { type: 'stopped'; save: SaveState }
  /** Another person's version joined with ours; one undo removes their part from the draft. */
  | { type: 'merged'; base: Saved; definition: Definition; label: string; at: number }
  /** Published here, or by somebody else. */
  | { type: 'published'; version: number }
  /** Starts over from another version; cannot be undone. */
  | { type: 'reset'; base: Saved; layout: Layout }

export function initialState(base: Saved, layout: Layout, publishedVersion: number | null): DraftState {
  const draft = { definition: base.definition, layout }
  return {
    history: createHistory(draft),
    base,
    baseLayout: layout,
    publishedVersion,
    save: { kind: 'saved', at: null },
  }
}

/** Whether the draft has anything the server does not have. */
export function isDirty({ history, base, baseLayout }: DraftState): boolean {
  return history.present.definition !== base.definition || history.present.layout !== baseLayout
}

export function reduceDraft(state: DraftState, action: DraftAction): DraftState {
  switch (action.type) {
    case 'change': {
      const { draft, label, target, at } = action
      return edited({ ...state, history: record(state.history, draft, { label, target, at }) })
    }
    case 'undo':
      return edited({ ...state, history: undo(state.history) })
    case 'redo':
      return edited({ ...state, history: redo(state.history) })
    case 'saving':
      return { ...state, save: { kind: 'saving' } }
    case 'saved':
      return confirmed({ ...state, base: action.base, publishedVersion: action.publishedVersion }, action.at)
    case 'layout-saved':
      return confirmed({ ...state, baseLayout: action.layout }, action.at)
    case 'stopped':
      return { ...state, save: action.save }
    case 'merged': {
      const { base, definition, label, at } = action
      const { present } = state.history
      const history =
        definition === present.definition
          ? replacePresent(state.history, present)
          : record(state.history, { ...present, definition }, { label, at })
      return confirmed({ ...state, history, base }, null)
    }
    case 'published':
      return { ...state, publishedVersion: action.version, base: publishedAs(state.base, action.version) }
    case 'reset':
      return initialState(action.base, action.layout, state.publishedVersion)
  }
}

/** An edit after a failure is worth another save; a conflict still waits for a person. */
function edited(state: DraftState): DraftState {
  const { kind } = state.save
  if (kind === 'saving' || kind === 'conflict') return state
  if (!isDirty(state)) return { ...state, save: { kind: 'saved', at: null } }
  return kind === 'offline' ? state : { ...state, save: { kind: 'unsaved' } }
}

/** The server confirmed something; an edit made during the request still has to be saved. */
function confirmed(state: DraftState, at: number | null): DraftState {
  return { ...state, save: isDirty(state) ? { kind: 'unsaved' } : { kind: 'saved', at } }
}

/** The saved definition after it was published, which may have made it the next version. */
function publishedAs(base: Saved, version: number): Saved {
  return version > base.version ? { ...base, version } : base
}
