import type { Definition } from '@/server/definition/schema'
import type { State } from '../../../_draft/core'
import type { Layout } from '../model/definition'
import { createHistory, type History } from './history'

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

/** What the other side saved. `by` is null when both sides are the same person. */
export interface Conflict {
  theirs: Saved & { by: string | null }
}

export interface DraftData {
  history: History<Draft>
  /** The newest version the server has confirmed; the next save builds on it. */
  base: Saved
  /** The layout the server has. */
  baseLayout: Layout
  publishedVersion: number | null
}

export type DraftState = State<DraftData, Conflict>

/** A draft that starts from a version; undo cannot go behind it. */
export function startingFrom(base: Saved, layout: Layout) {
  const history = createHistory<Draft>({ definition: base.definition, layout })
  return { history, base, baseLayout: layout }
}

/** Whether the draft has anything the server does not have. */
export function isDirty({ history, base, baseLayout }: DraftData): boolean {
  return history.present.definition !== base.definition || history.present.layout !== baseLayout
}
