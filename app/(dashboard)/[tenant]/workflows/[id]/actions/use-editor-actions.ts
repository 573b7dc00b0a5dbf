'use client'
import { useMemo, useRef } from 'react'
import type { Catalog } from '@/server/steps/catalog'
import type { Draft } from '../draft/draft-state'
import { redoLabel, undoLabel } from '../draft/history'
import type { DraftControl } from '../draft/use-draft'
import { canConnect, connect, disconnect } from '../model/connect'
import {
  edgeAt,
  entryOf,
  exitsOf,
  findStep,
  type Layout,
  mainExitOf,
  nameOf,
  type Position,
  START,
} from '../model/definition'
import { addStep, duplicateStep, type InsertPoint, removeSteps } from '../model/edit-steps'
import { copySteps, type Fragment, pasteFragment, replaceWith } from '../model/fragment'
import { NODE_HEIGHT, NODE_WIDTH } from '../model/layout-request'
import { makeRoom, renameInLayout } from '../model/positions'
import { renameField, renameStep } from '../model/rename'
import { tidyLayout } from '../model/tidy-layout'
import type { EditorActions } from './editor-actions'
import type { CanvasHandle, EditorDialog } from './screen'

/** The actions that only the editor's screen and panels use. */
export interface ScreenActions extends EditorActions {
  /** Adds a step after the selected one, or at the end. */
  add(): void
  choose(type: string, insertPoint: InsertPoint, at: Position | null): void
  connectNow(from: string, exit: string, to: string): void
  rename(stepId: string, to: string): void
  renameField(stepId: string, key: string | null, from: string, to: string): void
  paste(fragment: Fragment): void
  replaceAll(definition: Draft['definition']): void
  removeWithGap(stepIds: readonly string[]): void
  /** Shows the form of the workflow itself. */
  openWorkflow(): void
  undo(): void
  redo(): void
}

interface Screen {
  draft: DraftControl
  catalog: Catalog
  shown: Layout | null
  selection: readonly string[]
  readOnly: boolean
  canvas: CanvasHandle | null
  setSelection(stepIds: readonly string[]): void
  setDialog(dialog: EditorDialog | null): void
  /** Shows the form of the selection, which is a sheet on a phone. */
  openForm(stepId: string, field?: string): void
  announce(text: string, visible?: boolean): void
  /** Focuses a step in the current view. */
  focusStep(stepId: string): void
}

/** The editor's actions. Created once; each reads the current screen when it is called. */
export function useScreenActions(screen: Screen): ScreenActions {
  const ref = useRef(screen)
  ref.current = screen
  return useMemo(() => makeActions(ref), [])
}

function makeActions(ref: { current: Screen }): ScreenActions {
  const now = () => ref.current.draft.getState().history.present
  const labelOf = (stepId: string) => {
    if (stepId === START) return 'START'
    const step = findStep(now().definition, stepId)
    return step ? nameOf(step) : stepId
  }
  const layoutOf = (draft: Draft) => ref.current.shown ?? draft.layout
  const edit = (label: string, command: (draft: Draft) => Draft, target?: string) =>
    ref.current.draft.change(label, command, target)
  const redefine = (label: string, command: (definition: Draft['definition']) => Draft['definition']) =>
    edit(label, (draft) => {
      const definition = command(draft.definition)
      return definition === draft.definition ? draft : { ...draft, definition }
    })

  const remove = (stepIds: readonly string[], reconnect: boolean) => {
    const gone = stepIds.filter((id) => findStep(now().definition, id))
    const [first] = gone
    if (ref.current.readOnly || first === undefined) return
    const { definition } = now()
    const previous = definition.edges.find((edge) => gone.includes(edge.to) && !gone.includes(edge.from))?.from ?? START
    const what = gone.length === 1 ? labelOf(first) : `${gone.length} steps`
    redefine(`delete ${what}`, (before) => removeSteps(before, gone, { reconnect }))
    ref.current.setSelection([])
    ref.current.announce(`${what} deleted. Undo brings it back.`, true)
    ref.current.focusStep(previous)
  }

  const actions: ScreenActions = {
    select: (stepIds) => ref.current.setSelection(stepIds),
    open(stepId, field) {
      ref.current.setSelection([stepId])
      ref.current.openForm(stepId, field)
    },
    addAt(insertPoint, at) {
      if (ref.current.readOnly) return
      ref.current.setDialog({
        kind: 'picker',
        insertPoint: insertPoint && validInsertPoint(ref, insertPoint),
        at: at ?? null,
      })
    },
    add() {
      const { selection, catalog } = ref.current
      const [only] = selection.length === 1 ? selection : []
      const exit = 'next'
      actions.addAt(only === undefined ? endOfPath(now().definition, catalog) : { after: only, exit })
    },
    choose(type, insertPoint, at) {
      const { catalog } = ref.current
      const title = entryOf(catalog, type)?.title ?? type
      let added = ''
      edit(`add ${title}`, (draft) => {
        const { definition, stepId } = addStep(draft.definition, catalog, type, insertPoint)
        added = stepId
        return { definition, layout: withNewStep(layoutOf(draft), insertPoint, at, stepId) }
      })
      ref.current.setDialog(null)
      ref.current.setSelection([added])
      ref.current.announce(insertPoint ? `${title} added after ${labelOf(insertPoint.after)}.` : `${title} added.`)
      ref.current.focusStep(added)
    },
    connect(from, exit, to) {
      if (ref.current.readOnly) return
      const connection = canConnect(now().definition, ref.current.catalog, from, exit, to)
      if (!connection.ok) ref.current.announce(connection.reason, true)
      else if (connection.replaces === null) actions.connectNow(from, exit, to)
      else ref.current.setDialog({ kind: 'replace', from, exit, to, replaces: connection.replaces })
    },
    connectNow(from, exit, to) {
      redefine(`connect ${labelOf(from)}`, (definition) => connect(definition, from, exit, to))
      ref.current.setDialog(null)
      ref.current.announce(`Connected ${labelOf(from)} to ${labelOf(to)}.`)
      ref.current.focusStep(from)
    },
    disconnect(from, exit) {
      redefine(`disconnect ${labelOf(from)}`, (definition) => disconnect(definition, from, exit))
      ref.current.announce(`Connection from ${labelOf(from)} removed.`)
    },
    openConnect: (from, exit = 'next') => {
      if (!ref.current.readOnly) ref.current.setDialog({ kind: 'connect', from, exit })
    },
    openDisconnect(from) {
      if (ref.current.readOnly) return
      const edges = now().definition.edges.filter((edge) => edge.from === from)
      if (edges.length === 0) ref.current.announce(`${labelOf(from)} has no connection to remove.`, true)
      else ref.current.setDialog({ kind: 'disconnect', from })
    },
    remove: (stepIds) => remove(stepIds, true),
    removeWithGap: (stepIds) => remove(stepIds, false),
    duplicate(stepId) {
      const { catalog } = ref.current
      let copy: string | null = null
      edit(`duplicate ${labelOf(stepId)}`, (draft) => {
        const made = duplicateStep(draft.definition, catalog, stepId)
        if (!made) return draft
        copy = made.stepId
        const layout = withNewStep(layoutOf(draft), { after: stepId, exit: 'next' }, null, made.stepId)
        return { definition: made.definition, layout }
      })
      if (copy === null) return
      ref.current.setSelection([copy])
      ref.current.announce(`${labelOf(stepId)} duplicated.`)
      ref.current.focusStep(copy)
    },
    copy(stepIds) {
      const text = JSON.stringify(copySteps(now().definition, stepIds), null, 2)
      navigator.clipboard
        .writeText(text)
        .then(() =>
          ref.current.announce(stepIds.length === 1 ? 'Step copied.' : `${stepIds.length} steps copied.`, true),
        )
        .catch(() =>
          ref.current.announce('The browser blocked copying. Allow access to the clipboard and try again.', true),
        )
    },
    paste(fragment) {
      const { catalog, selection } = ref.current
      const [only] = selection.length === 1 ? selection : []
      const exit = only === undefined || only === START ? 'next' : exitOfStep(ref, only)
      const insertPoint = only === undefined || exit === null ? null : { after: only, exit }
      let ids: string[] = []
      edit(fragment.steps.length === 1 ? 'paste a step' : `paste ${fragment.steps.length} steps`, (draft) => {
        const pasted = pasteFragment(draft.definition, catalog, fragment, insertPoint)
        ids = pasted.stepIds
        return { definition: pasted.definition, layout: layoutOf(draft) }
      })
      ref.current.setSelection(ids)
      ref.current.announce(ids.length === 1 ? 'Step pasted.' : `${ids.length} steps pasted.`, true)
      if (ids[0] !== undefined) ref.current.focusStep(ids[0])
    },
    replaceAll(definition) {
      edit('paste a workflow', (draft) => ({ definition: replaceWith(draft.definition, definition), layout: {} }))
      ref.current.setSelection([])
      actions.tidy()
    },
    openRename: (stepId) => {
      if (!ref.current.readOnly && stepId !== START) ref.current.setDialog({ kind: 'rename', stepId })
    },
    rename(stepId, to) {
      const { catalog } = ref.current
      let references = 0
      edit(`rename ${stepId}`, (draft) => {
        const renamed = renameStep(draft.definition, catalog, stepId, to)
        references = renamed.references
        if (renamed.definition === draft.definition) return draft
        return { definition: renamed.definition, layout: renameInLayout(layoutOf(draft), stepId, to) }
      })
      ref.current.setSelection([to])
      ref.current.announce(`${stepId} is now ${to}.${referencesNote(references)}`, true)
    },
    renameField(stepId, key, from, to) {
      const location = key === null ? { stepId: START as typeof START } : { stepId, key }
      let references = 0
      redefine(`rename ${from}`, (definition) => {
        const renamed = renameField(definition, ref.current.catalog, location, from, to)
        references = renamed.references
        return renamed.definition
      })
      if (references > 0) ref.current.announce(`${from} is now ${to}.${referencesNote(references)}`, true)
    },
    move(positions) {
      const ids = Object.keys(positions)
      const what = ids.length === 1 && ids[0] !== undefined ? labelOf(ids[0]) : `${ids.length} steps`
      edit(
        `move ${what}`,
        (draft) => ({ ...draft, layout: { ...layoutOf(draft), ...positions } }),
        `move:${ids.join()}`,
      )
    },
    openWorkflow() {
      ref.current.setSelection([])
      ref.current.openForm('')
    },
    undo() {
      const label = undoLabel(ref.current.draft.getState().history)
      ref.current.draft.undo()
      if (label !== null) ref.current.announce(`Undone: ${label}.`)
    },
    redo() {
      const label = redoLabel(ref.current.draft.getState().history)
      ref.current.draft.redo()
      if (label !== null) ref.current.announce(`Redone: ${label}.`)
    },
    openFind: () => ref.current.setDialog({ kind: 'find' }),
    tidy() {
      if (ref.current.readOnly) return
      tidyLayout(now().definition)
        .then((layout) => {
          edit('tidy', (draft) => ({ ...draft, layout }))
          ref.current.announce('Graph tidied.')
          setTimeout(() => ref.current.canvas?.fit(), 50)
        })
        .catch(() => ref.current.announce('The graph could not be tidied.', true))
    },
    announce: (text, visible) => ref.current.announce(text, visible),
  }
  return actions
}

/** Where a step goes while none is selected: at the end of the path from START, before the step that ends the run. */
export function endOfPath(definition: Draft['definition'], catalog: Catalog): NonNullable<InsertPoint> {
  let insertPoint: NonNullable<InsertPoint> = { after: START, exit: 'next' }
  const seen = new Set<string>()
  for (let at = definition.initialStep; at !== null && !seen.has(at); ) {
    seen.add(at)
    const exit = findStep(definition, at) ? mainExitOf(definition, catalog, at) : null
    if (exit === null) break
    insertPoint = { after: at, exit }
    at = edgeAt(definition, at, exit)?.to ?? null
  }
  return insertPoint
}

/** Null after a step that ends the run: a new step stays unconnected there. */
function validInsertPoint(ref: { current: Screen }, insertPoint: NonNullable<InsertPoint>): InsertPoint {
  if (insertPoint.after === START) return { after: START, exit: 'next' }
  const exit = exitOfStep(ref, insertPoint.after)
  if (exit === null) return null
  const { definition } = ref.current.draft.getState().history.present
  const exits = exitsOf(definition, ref.current.catalog, insertPoint.after)
  return exits.some(({ id }) => id === insertPoint.exit) ? insertPoint : { after: insertPoint.after, exit }
}

function exitOfStep(ref: { current: Screen }, stepId: string): string | null {
  const { definition } = ref.current.draft.getState().history.present
  return findStep(definition, stepId) ? mainExitOf(definition, ref.current.catalog, stepId) : null
}

function referencesNote(references: number): string {
  if (references === 0) return ''
  return references === 1 ? ' 1 reference updated.' : ` ${references} references updated.`
}

/** The layout with a new step where it was dropped, or below the step it follows. */
function withNewStep(shown: Layout, insertPoint: InsertPoint, at: Position | null, stepId: string): Layout {
  if (at) return { ...shown, [stepId]: { x: Math.round(at.x - NODE_WIDTH / 2), y: Math.round(at.y) } }
  const before = insertPoint && shown[insertPoint.after]
  // Without a neighbour it is placed when it is drawn.
  if (!before) return shown
  const position = { x: before.x, y: before.y + NODE_HEIGHT + 64 }
  return { ...makeRoom(shown, position, stepId), [stepId]: position }
}
