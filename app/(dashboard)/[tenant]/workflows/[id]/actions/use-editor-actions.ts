'use client'
import { useMemo, useRef } from 'react'
import { FAILURE_EXITS } from '@/server/definition/exits'
import type { JsonObject } from '@/server/definition/json'
import type { Step } from '@/server/definition/schema'
import { sameForm } from '@/server/definition/step-id'
import type { Catalog } from '@/server/steps/catalog'
import type { Draft } from '../draft/draft-state'
import { redoLabel, undoLabel } from '../draft/history'
import { loadedFixOf } from '../draft/load-fixes'
import type { DraftControl } from '../draft/use-draft'
import { canConnect, connect, disconnect, reconnect } from '../model/connect'
import {
  edgeAt,
  exitLabel,
  exitsOf,
  findStep,
  type Layout,
  mainExitOf,
  nameOf,
  openExitOf,
  type Position,
  START,
} from '../model/definition'
import { addStep, duplicateStep, type InsertPoint, removeSteps, titleOf } from '../model/edit-steps'
import { NODE_WIDTH, shownExitsOf, sizeOf } from '../model/exit-row'
import { copySteps, type Fragment, pasteFragment, replaceWith } from '../model/fragment'
import { placeAfter, renameInLayout } from '../model/positions'
import { renameField, renameStep } from '../model/rename'
import { tidyLayout } from '../model/tidy-layout'
import type { EditorActions } from './editor-actions'
import type { CanvasHandle, EditorDialog } from './screen'

/** The actions that only the editor's screen and panels use. */
export interface ScreenActions extends EditorActions {
  /** Adds a step after the selected one, or at the end. */
  add(): void
  /** Adds a step of a type; `config` replaces values of its sample, such as the name. */
  choose(type: string, insertPoint: InsertPoint, at: Position | null, config?: JsonObject): void
  connectNow(from: string, exit: string, to: string): void
  rename(stepId: string, to: string): void
  renameField(stepId: string, key: string | null, from: string, to: string, action?: string): void
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
  /** Opens the panel that tries out a step. */
  openTrial(stepId: string, how: 'to' | 'only'): void
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

  /** A step, with the exit if it has several. */
  const placeOf = ({ after, exit }: NonNullable<InsertPoint>) => {
    const { definition } = now()
    const exits = exitsOf(definition, ref.current.catalog, after)
    return exits.length < 2 || exit === 'next' ? labelOf(after) : `${labelOf(after)} (${exitLabel(exits, exit)})`
  }

  const announceConnected = (place: NonNullable<InsertPoint>, to: string, before: Step | undefined) => {
    const connected = `Connected ${placeOf(place)} to ${labelOf(to)}.`
    const bound = findStep(now().definition, to)?.maxVisits
    if (typeof bound !== 'number' || bound === before?.maxVisits) ref.current.announce(connected)
    else {
      const visits = bound.toLocaleString('en')
      ref.current.announce(
        `${connected} This makes a loop, so ${labelOf(to)} is visited at most ${visits} times.`,
        true,
      )
    }
  }

  const remove = (stepIds: readonly string[], reconnect: boolean) => {
    const gone = stepIds.filter((id) => findStep(now().definition, id))
    const [first] = gone
    if (ref.current.readOnly || first === undefined) return
    const { definition } = now()
    const previous = definition.edges.find((edge) => gone.includes(edge.to) && !gone.includes(edge.from))?.from ?? START
    const what = gone.length === 1 ? labelOf(first) : `${gone.length} steps`
    redefine(`delete ${what}`, (before) => removeSteps(before, ref.current.catalog, gone, { reconnect }))
    ref.current.setSelection([])
    ref.current.announce(`${what} deleted. Undo restores it.`, true)
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
      if (only === undefined) actions.addAt(endOfPath(now().definition, catalog))
      else actions.addAfter(only)
    },
    addAfter(stepId) {
      const exit = openExitOf(now().definition, ref.current.catalog, stepId)
      actions.addAt({ after: stepId, exit: exit ?? 'next' })
    },
    choose(type, insertPoint, at, config = {}) {
      const { catalog } = ref.current
      const title = titleOf(catalog, type, config)
      let added = ''
      edit(`add ${title}`, (draft) => {
        const { definition, stepId } = addStep(draft.definition, catalog, type, insertPoint, config)
        added = stepId
        return { definition, layout: withNewStep(definition, catalog, layoutOf(draft), insertPoint, at, stepId) }
      })
      ref.current.setDialog(null)
      ref.current.setSelection([added])
      ref.current.announce(insertPoint ? `${title} added after ${placeOf(insertPoint)}.` : `${title} added.`)
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
      const before = findStep(now().definition, to)
      redefine(`connect ${labelOf(from)}`, (definition) => connect(definition, from, exit, to))
      ref.current.setDialog(null)
      announceConnected({ after: from, exit }, to, before)
      ref.current.focusStep(from)
    },
    reconnect(edge, from, exit, to) {
      const { definition } = now()
      if (ref.current.readOnly || (edge.from === from && edge.exit === exit && targetOf(definition, edge) === to))
        return
      const done = reconnect(definition, ref.current.catalog, edge, { from, exit, to })
      if ('reason' in done) {
        ref.current.announce(done.reason, true)
        return
      }
      const before = findStep(definition, to)
      redefine(`connect ${labelOf(from)}`, () => done.definition)
      announceConnected({ after: from, exit }, to, before)
    },
    disconnect(from, exit) {
      redefine(`disconnect ${labelOf(from)}`, (definition) => disconnect(definition, from, exit))
      ref.current.announce(`Connection from ${placeOf({ after: from, exit })} removed.`)
    },
    openConnect(from, exit) {
      if (ref.current.readOnly) return
      const chosen = exit ?? openExitOf(now().definition, ref.current.catalog, from)
      if (chosen !== null) ref.current.setDialog({ kind: 'connect', from, exit: chosen })
      else ref.current.announce(`${labelOf(from)} ends the run, so nothing can follow it.`, true)
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
        const place = { after: stepId, exit: 'next' }
        const layout = withNewStep(made.definition, catalog, layoutOf(draft), place, null, made.stepId)
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
      const exit = only === undefined ? null : openExitOf(now().definition, catalog, only)
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
    tryOut(stepId, how) {
      ref.current.setSelection([stepId])
      ref.current.openTrial(stepId, how)
    },
    openRename: (stepId) => {
      if (!ref.current.readOnly && stepId !== START) ref.current.setDialog({ kind: 'rename', stepId })
    },
    rename(stepId, wanted) {
      const to = sameForm(wanted)
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
    renameField(stepId, key, from, to, action) {
      const location = key === null ? { stepId: START as typeof START } : { stepId, key, action }
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
    fixOf: (problem) =>
      ref.current.readOnly ? null : (loadedFixOf(now().definition, ref.current.catalog, problem)?.label ?? null),
    fix(problem) {
      const fix = ref.current.readOnly ? null : loadedFixOf(now().definition, ref.current.catalog, problem)
      if (!fix) return
      redefine(`fix: ${fix.label}`, fix.apply)
      ref.current.announce(`Done: ${fix.label}. Undo reverts it.`, true)
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
    openCreate: (what, onCreated) => ref.current.setDialog({ kind: 'create', what, onCreated }),
    openFind: () => ref.current.setDialog({ kind: 'find' }),
    tidy() {
      if (ref.current.readOnly) return
      tidyLayout(now().definition, ref.current.catalog)
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

/** The insert point without a selected step: the end of the path from START, before the step that ends the run. */
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
  const { after } = insertPoint
  if (after === START) return { after, exit: 'next' }
  const { definition } = ref.current.draft.getState().history.present
  const exit = findStep(definition, after) ? openExitOf(definition, ref.current.catalog, after) : null
  if (exit === null) return null
  const exits = exitsOf(definition, ref.current.catalog, after)
  return exits.some(({ id }) => id === insertPoint.exit) ? insertPoint : { after, exit }
}

function targetOf(definition: Draft['definition'], { from, exit }: { from: string; exit: string }): string | null {
  return from === START ? definition.initialStep : (edgeAt(definition, from, exit)?.to ?? null)
}

function referencesNote(references: number): string {
  if (references === 0) return ''
  return references === 1 ? ' 1 reference updated.' : ` ${references} references updated.`
}

/** The layout with a new step where it was dropped, or below the exit that leads to it. */
function withNewStep(
  definition: Draft['definition'],
  catalog: Catalog,
  shown: Layout,
  insertPoint: InsertPoint,
  at: Position | null,
  stepId: string,
): Layout {
  if (at) return { ...shown, [stepId]: { x: Math.round(at.x - NODE_WIDTH / 2), y: Math.round(at.y) } }
  const position = insertPoint && shown[insertPoint.after]
  // Without a neighbour, the canvas places it.
  if (!position) return shown
  const exits = shownExitsOf(definition, catalog, insertPoint.after).filter(({ tier }) => tier === 'way')
  const index = exits.findIndex(({ id }) => id === insertPoint.exit)
  // Failure exits are on the right.
  const ways = FAILURE_EXITS.includes(insertPoint.exit)
    ? { index: 2, count: 3 }
    : { index, count: index === -1 ? 1 : exits.length }
  const size = sizeOf(shownExitsOf(definition, catalog, insertPoint.after))
  return placeAfter(definition, shown, { position, ...size }, ways, stepId)
}
