import type { Definition } from '@/server/workflows/schema'
import type { Layout } from '../model/definition'
import { begin, type History, record, redo, replacePresent, undo } from './history'

/** What is edited: the definition, and where its steps stand. */
export interface Draft {
  definition: Definition
  layout: Layout
}

/** A version as the server has it. */
export interface Saved {
  version: number
  definition: Definition
}

export type SaveState =
  /** `at` is null while nothing has been saved on this screen. */
  | { kind: 'saved'; at: number | null }
  | { kind: 'unsaved' }
  | { kind: 'saving' }
  | { kind: 'offline' }
  /** `passing` when the service may be there again by itself. */
  | { kind: 'failed'; message: string; passing: boolean }
  /** Both sides changed the same things; nothing is saved until a person has chosen. */
  | { kind: 'conflict'; theirs: Saved & { by: string } }

export interface DraftState {
  history: History<Draft>
  /** The newest version that the server has confirmed; saves say that they build on it. */
  base: Saved
  /** Where the server believes the steps to stand. */
  baseLayout: Layout
  publishedVersion: number | null
  save: SaveState
}

export type DraftAction =
  | { type: 'change'; draft: Draft; label: string; target?: string; at: number }
  | { type: 'undo' }
  | { type: 'redo' }
  | { type: 'saving' }
  | { type: 'saved'; base: Saved; layout: Layout; publishedVersion: number | null; at: number }
  | { type: 'stopped'; save: SaveState }
  /** Somebody else's version, joined with ours; one undo takes their part out of the draft again. */
  | { type: 'merged'; base: Saved; definition: Definition; label: string; at: number }
  | { type: 'published'; version: number }
  /** Another version takes the place of everything, and there is no way back to what was. */
  | { type: 'reset'; base: Saved; layout: Layout; publishedVersion: number | null }

export function initialState(base: Saved, layout: Layout, publishedVersion: number | null): DraftState {
  const draft = { definition: base.definition, layout }
  return { history: begin(draft), base, baseLayout: layout, publishedVersion, save: { kind: 'saved', at: null } }
}

/** Whether there is something that the server does not have. */
export function isDirty({ history, base, baseLayout }: DraftState): boolean {
  return history.present.definition !== base.definition || history.present.layout !== baseLayout
}

export function reduceDraft(state: DraftState, action: DraftAction): DraftState {
  switch (action.type) {
    case 'change': {
      const { draft, label, target, at } = action
      return touched({
        ...state,
        history: record(state.history, draft, { label, at, ...(target === undefined ? {} : { target }) }),
      })
    }
    case 'undo':
      return touched({ ...state, history: undo(state.history) })
    case 'redo':
      return touched({ ...state, history: redo(state.history) })
    case 'saving':
      return { ...state, save: { kind: 'saving' } }
    case 'saved': {
      const next = {
        ...state,
        base: action.base,
        baseLayout: action.layout,
        publishedVersion: action.publishedVersion,
      }
      return { ...next, save: isDirty(next) ? { kind: 'unsaved' } : { kind: 'saved', at: action.at } }
    }
    case 'stopped':
      return { ...state, save: action.save }
    case 'merged': {
      const { base, definition, label, at } = action
      const { layout } = state.history.present
      const history =
        definition === state.history.present.definition
          ? replacePresent(state.history, state.history.present)
          : record(state.history, { definition, layout }, { label, at })
      return { ...state, history, base, save: { kind: 'unsaved' } }
    }
    case 'published':
      return { ...state, publishedVersion: action.version }
    case 'reset':
      return initialState(action.base, action.layout, action.publishedVersion)
  }
}

/** A change after a failure is one more reason to save; a conflict waits for a person all the same. */
function touched(state: DraftState): DraftState {
  const { kind } = state.save
  if (kind === 'saving' || kind === 'conflict' || kind === 'offline') return state
  return { ...state, save: isDirty(state) ? { kind: 'unsaved' } : { kind: 'saved', at: null } }
}
