'use client'
import { createContext, use } from 'react'
import type { Position } from '../model/definition'
import type { Place } from '../model/edit-steps'

/** What can be done in the editor, the same from the canvas, the outline, the inspector and the keyboard. Never changes. */
export interface EditorActions {
  select(stepIds: readonly string[]): void
  /** Shows a step's form and takes the focus there. */
  open(stepId: string, field?: string): void
  /** Lets a step type be chosen; `at` is where on the canvas it goes. */
  addAt(place: Place, at?: Position): void
  connect(from: string, exit: string, to: string): void
  disconnect(from: string, exit: string): void
  openConnect(from: string, exit?: string): void
  openDisconnect(from: string): void
  remove(stepIds: readonly string[]): void
  duplicate(stepId: string): void
  copy(stepIds: readonly string[]): void
  openRename(stepId: string): void
  move(positions: Readonly<Record<string, Position>>): void
  openFind(): void
  tidy(): void
  /** Told to whoever listens to a screen reader, and shown when `visible`. */
  announce(text: string, visible?: boolean): void
}

const Context = createContext<EditorActions | null>(null)
export const EditorActionsProvider = Context.Provider

export function useEditorActions(): EditorActions {
  const actions = use(Context)
  if (!actions) throw new Error('[editor-actions] used outside the editor')
  return actions
}
