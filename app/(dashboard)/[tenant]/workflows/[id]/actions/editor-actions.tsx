'use client'
import { createContext, use } from 'react'
import type { Problem } from '@/server/workflows/check/problem'
import type { Created } from '../../../_new/create-and-publish'
import type { Position } from '../model/definition'
import type { InsertPoint } from '../model/edit-steps'
import type { Callee } from './screen'

/** The actions shared by canvas, outline, inspector and keyboard. The object never changes. */
export interface EditorActions {
  select(stepIds: readonly string[]): void
  /** Shows a step's form and focuses it. */
  open(stepId: string, field?: string): void
  /** Opens the step picker; `at` is the position on the canvas. */
  addAt(insertPoint: InsertPoint, at?: Position): void
  /** Opens the step picker for the step's most likely exit. */
  addAfter(stepId: string): void
  connect(from: string, exit: string, to: string): void
  /** Moves an edge to another target step or to another exit. */
  reconnect(edge: { from: string; exit: string }, from: string, exit: string, to: string): void
  disconnect(from: string, exit: string): void
  openConnect(from: string, exit?: string): void
  openDisconnect(from: string): void
  remove(stepIds: readonly string[]): void
  duplicate(stepId: string): void
  copy(stepIds: readonly string[]): void
  openRename(stepId: string): void
  /** Opens the dialog that creates what a step calls. */
  openCreate(what: Callee, onCreated: (created: Created) => void): void
  move(positions: Readonly<Record<string, Position>>): void
  /** The label of the problem's fix; null if it takes more than a click. */
  fixOf(problem: Problem): string | null
  fix(problem: Problem): void
  openFind(): void
  /** Opens the panel in which a test runs to a step, or only that step. */
  tryOut(stepId: string, how: 'to' | 'only'): void
  tidy(): void
  /** Announces a sentence to screen readers, and shows it when `visible`. */
  announce(text: string, visible?: boolean): void
}

const Context = createContext<EditorActions | null>(null)
export const EditorActionsProvider = Context.Provider

/** Null for a read-only graph, such as on a run's page. */
export function useActionsHere(): EditorActions | null {
  return use(Context)
}

export function useEditorActions(): EditorActions {
  const actions = use(Context)
  if (!actions) throw new Error('[editor-actions] used outside the editor')
  return actions
}
