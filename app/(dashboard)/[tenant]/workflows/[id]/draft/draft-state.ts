import type { Definition } from '@/server/definition/schema'
import type { State } from '../../../_draft/core'
import type { Layout } from '../model/definition'
import { createHistory, type History } from './history'

/** The edited content: the definition, and its steps' positions on the canvas. */
export interface Draft {
  definition: Definition
  layout: Layout
}

/** A version that the server has. */
export interface Saved {
  version: number
  definition: Definition
}

/** The other side's save. `by` is null if both sides are the same user. */
export interface Conflict {
  theirs: Saved & { by: string | null }
}

export interface DraftData {
  history: History<Draft>
  /** The newest version the server has confirmed; the next save builds on it. */
  base: Saved
  /** The server's layout. */
  baseLayout: Layout
  publishedVersion: number | null
}

export type DraftState = State<DraftData, Conflict>

/** A draft that starts from a version; undo cannot go back beyond it. */
export function startingFrom(base: Saved, layout: Layout) {
  const history = createHistory<Draft>({ definition: base.definition, layout })
  return { history, base, baseLayout: layout }
}

/** Whether the draft has changes that the server lacks. */
export function isDirty({ history, base, baseLayout }: DraftData): boolean {
  return history.present.definition !== base.definition || history.present.layout !== baseLayout
}
