'use client'
import { Drawer, Skeleton } from '@mantine/core'
import dynamic from 'next/dynamic'
import { type CSSProperties, memo, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react'
import { notifyLatest } from '@/app/_ui/notify'
import { inPlace, loadPart, loadQuiet, nothing } from '@/app/_ui/part'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import type { Draft as WorkflowDraft } from '@/server/views/workflows/get-draft'
import { useTenant } from '../../../tenant-context'
import { EditorActionsProvider } from '../actions/editor-actions'
import type { CanvasHandle, EditorDialog, GoTo, SaveNow } from '../actions/screen'
import { useScreenActions } from '../actions/use-editor-actions'
import { useEditorKeys } from '../actions/use-editor-keys'
import { GRAPH_ID } from '../canvas/graph-id'
import { useShownLayout } from '../canvas/use-shown-layout'
import { redoLabel, undoLabel } from '../draft/history'
import { useDraft } from '../draft/use-draft'
import { loadedOf, useDraftServer } from '../draft/use-draft-server'
import { useProblems } from '../draft/use-problems'
import { usePublished } from '../draft/use-published'
import { focusClaim, focusField } from '../inspector/focus-field'
import { START } from '../model/definition'
import { describeTitle } from '../model/described'
import { copySteps } from '../model/fragment'
import type { TestWatchProps } from '../panels/test-watch'
import { Resizer, usePanelSize } from '../parts/resizer'
import { useTestRun } from '../parts/test-state'
import { outlineId } from '../views/outline-id'
import { DraftDialogs } from './draft-dialogs'
import styles from './editor.module.css'
import { EditorDialogs } from './editor-dialogs'
import { DraftHeader } from './header'
import { HeaderActions, PanelButtons, PanelItems } from './header-actions'
import type { OpenPanelProps } from './open-panel'
import { focusPanel, PANEL_HEIGHT, type Panel } from './panels'
import { readOnlyReason } from './read-only-reason'
import { SaveStateText } from './save-state'
import { SidePanel } from './side-panel'
import { Toolbar, type View } from './toolbar'
import { useAnnouncedErrors } from './use-announced-errors'
import { useAnnouncer } from './use-announcer'
import { usePhone } from './use-phone'
import { type UrlState, useNavigation } from './use-url-state'
import { ViewArea } from './view-area'

/** As high as the panel, so that the graph does not change its size once more when that is there. */
function PanelPlace() {
  const { size } = usePanelSize('bottom', PANEL_HEIGHT)
  if (usePhone()) return null
  return (
    <div className={styles.bottom} style={size === null ? undefined : ({ '--bottom': `${size}px` } as CSSProperties)}>
      <Skeleton height={80} m="md" />
    </div>
  )
}

const OpenPanel = dynamic<OpenPanelProps>(
  () => loadPart(() => import('./open-panel').then((module) => module.OpenPanel)),
  { ssr: false, loading: inPlace(<PanelPlace />) },
)
const Here = dynamic(() => loadQuiet(() => import('../presence/here').then((module) => module.Here)), {
  ssr: false,
  loading: nothing,
})

// Only test runs need it.
const TestWatch = dynamic<TestWatchProps>(
  () => loadQuiet(() => import('../panels/test-watch').then((module) => module.TestWatch)),
  { ssr: false, loading: nothing },
)

/** A single notification, however often saves merge. */
const notifyMerged = (text: string) => notifyLatest('merged', text)

const VIEWS: readonly View[] = ['graph', 'list', 'outline', 'json']

export const EditorScreen = memo(function EditorScreen(props: {
  workflow: WorkflowDraft
  catalog: Catalog
  initial: UrlState
}) {
  const { workflow, catalog, initial } = props
  const { id: workflowId } = workflow
  const tenant = useTenant()
  const phone = usePhone()
  const archived = workflow.status === 'archived'
  const reason = readOnlyReason(tenant, archived)
  const readOnly = reason !== null
  const draft = useDraft({
    tenantId: tenant.id,
    workflowId,
    loaded: useMemo(() => loadedOf(workflow), [workflow]),
    server: useDraftServer(workflowId),
    readOnly,
    onMerged: notifyMerged,
  })
  const { history, publishedVersion, save, base } = draft.state
  const { definition } = history.present
  const shown = useShownLayout(history.present, catalog)
  // Also of deleted steps, for comparisons.
  const placed = useMemo(() => ({ ...workflow.layout, ...shown }), [workflow.layout, shown])
  const [publishing, setPublishing] = useState<'never' | 'open' | 'closed'>('never')
  const check = useProblems(definition, catalog, publishedVersion !== null || publishing !== 'never')
  const problems = check.known ? check.problems.length : null
  const published = usePublished(workflow, publishedVersion, definition)
  const { spoken, shown: message, announce } = useAnnouncer()
  const [dialog, setDialog] = useState<EditorDialog | null>(null)
  // On a phone the form and the panel are sheets, and only one is open at a time. A URL with a step opens its form.
  const [sheet, setSheet] = useState(initial.step !== '' && initial.panel === '')
  // Closing the dialog without a choice preserves the conflict; the header reopens it.
  const [resolving, setResolving] = useState(true)
  const canvas = useRef<CanvasHandle>(null)
  const test = useTestRun()
  const side = usePanelSize('inspector', { min: 256, max: 720 })

  const { panel, selection, setPanel, setSelection, ...navigation } = useNavigation(initial, VIEWS, definition)
  const view = navigation.view ?? (phone ? 'outline' : 'graph')
  const testing = panel === 'test' || panel === 'step' || panel === 'through'
  const toggle = (name: Panel) => setPanel(panel === name ? null : name)
  const focusStep = (stepId: string) => {
    const mayFocus = focusClaim()
    // Runs after a closing dialog has returned the focus to its opener.
    setTimeout(() => {
      if (!mayFocus(null)) return
      if (view === 'graph') canvas.current?.show(stepId)
      else document.getElementById(outlineId(stepId))?.focus()
    }, 80)
  }
  const showStep = (stepId: string) => {
    setSelection([stepId])
    focusStep(stepId)
  }
  const actions = useScreenActions({
    draft,
    catalog,
    shown,
    selection,
    readOnly,
    canvas: canvas.current,
    setSelection,
    setDialog,
    openForm(stepId, field) {
      if (phone) {
        setPanel(null)
        setSheet(true)
      }
      const mayFocus = focusClaim()
      setTimeout(() => focusField(stepId, field, mayFocus), 0)
    },
    announce,
    openTrial(stepId, how) {
      setSheet(false)
      if (how === 'to') test.setTo(stepId)
      setPanel(how === 'to' ? 'test' : 'step')
      focusPanel()
    },
    focusStep,
  })
  useEditorKeys({
    actions,
    draft,
    selection,
    canvas: canvas.current,
    readOnly,
    setDialog,
    copied() {
      const steps = selection.filter((id) => id !== START)
      return steps.length === 0 ? null : JSON.stringify(copySteps(definition, steps), null, 2)
    },
  })

  const redefine = (label: string, command: (definition: Definition) => Definition, target?: string) =>
    draft.change(
      label,
      (before) => {
        const next = command(before.definition)
        return next === before.definition ? before : { ...before, definition: next }
      },
      target,
    )
  const showDescribed = (text: string) => {
    setSelection([])
    announce(text, true)
    setTimeout(() => canvas.current?.fit(), 50)
  }
  /** The saved version, or null if the save failed. */
  const saved: SaveNow = async () => ((await draft.saveNow()) ? draft.getState().base.version : null)
  const goTo: GoTo = ({ stepId, field }) => {
    if (stepId !== undefined) actions.open(stepId, field)
    else if (field?.startsWith('payload')) actions.open(START, field)
    else {
      setSelection([])
      setTimeout(() => focusField('', field), 0)
    }
  }
  const { kind } = save
  useEffect(() => {
    if (kind === 'conflict') setResolving(true)
  }, [kind])
  useAnnouncedErrors(check.problems, announce)

  // The selection shows immediately; its form, which takes longer to render, follows.
  const shownSelection = useDeferredValue(selection)
  const form = (
    <SidePanel
      workflowId={workflowId}
      definition={definition}
      catalog={catalog}
      selection={shownSelection}
      problems={check.problems}
      actions={actions}
      onRedefine={redefine}
      tested={test.steps}
      onTested={() => {
        setSheet(false)
        setPanel('test')
      }}
      readOnly={readOnly}
    />
  )
  return (
    <EditorActionsProvider value={actions}>
      <div className={styles.screen}>
        {view === 'graph' && (
          <a href={`#${GRAPH_ID}`} className={styles.skip}>
            Skip to the graph
          </a>
        )}
        <DraftHeader
          id={workflowId}
          here="editor"
          name={definition.name}
          publishedVersion={publishedVersion}
          publishedNumber={published.number}
          unpublished={published.changes}
          archived={archived}
          state={
            reason ?? (
              <SaveStateText save={save} onRetry={() => void draft.saveNow()} onConflict={() => setResolving(true)} />
            )
          }
          others={
            <Here
              workflowId={workflowId}
              definition={definition}
              stepId={selection.length === 1 ? (selection[0] ?? null) : null}
              version={base.version}
              onShow={showStep}
              onNewer={draft.shown}
            />
          }
          actions={
            !archived && (
              <HeaderActions
                workflow={{ id: workflowId, name: definition.name, publishedNumber: published.number }}
                unpublished={published.changes}
                pending={publishedVersion !== null && published.number === null}
                testing={testing}
                onTest={() => setPanel(testing ? null : 'test')}
                onPublish={() => setPublishing('open')}
              />
            )
          }
        />
        <Toolbar
          view={view}
          views={VIEWS}
          onView={navigation.setView}
          undo={undoLabel(history)}
          redo={redoLabel(history)}
          onUndo={actions.undo}
          onRedo={actions.redo}
          onAdd={actions.add}
          describe={describeTitle(definition)}
          onDescribe={() => setDialog({ kind: 'describe' })}
          onTidy={actions.tidy}
          onFind={actions.openFind}
          onKeys={() => setDialog({ kind: 'keys' })}
          readOnly={readOnly}
          panels={<PanelButtons panel={panel} problems={problems} onPanel={toggle} />}
          panelItems={<PanelItems problems={problems} onPanel={toggle} />}
        />
        <div
          className={styles.body}
          style={side.size === null ? undefined : ({ '--side': `${side.size}px` } as CSSProperties)}
        >
          <div className={styles.main}>
            <ViewArea
              view={view}
              canvas={canvas}
              definition={definition}
              catalog={catalog}
              shown={shown}
              selection={selection}
              check={check}
              tested={test.steps}
              actions={actions}
              readOnly={readOnly}
              onApply={(next) => redefine('edit the JSON', () => next)}
              onDescribe={() => setDialog({ kind: 'describe' })}
              message={message}
            />
            {panel !== null && (
              <OpenPanel
                panel={panel}
                phone={phone}
                onPanel={setPanel}
                onClose={() => setPanel(null)}
                workflowId={workflowId}
                definition={definition}
                layout={placed}
                catalog={catalog}
                selected={selection.length === 1 ? (selection[0] ?? null) : null}
                test={test}
                onSelect={(stepId) => setSelection(stepId === '' ? [] : [stepId])}
                check={check}
                save={saved}
                onGoTo={goTo}
                onRestored={(restored) => {
                  draft.restored(restored)
                  announce('Restored.', true)
                }}
              />
            )}
          </div>
          {phone ? (
            <Drawer
              opened={sheet}
              onClose={() => setSheet(false)}
              position="bottom"
              size="100%"
              title={selection.length === 0 ? 'Workflow' : selection[0] === START ? 'START' : 'Step'}
            >
              {form}
            </Drawer>
          ) : (
            <>
              <Resizer panel={side} label="Resize the inspector" controls="inspector" vertical />
              <aside id="inspector" className={styles.side} aria-label="Inspector">
                {form}
              </aside>
            </>
          )}
        </div>
        {test.run && <TestWatch key={test.run.runId} runId={test.run.runId} onTested={test.onTested} />}
        <div aria-live="polite" className="visually-hidden">
          {spoken}
        </div>
        <EditorDialogs
          dialog={dialog}
          setDialog={setDialog}
          definition={definition}
          catalog={catalog}
          actions={actions}
          onRedefine={redefine}
          onFind={showStep}
        />
        <DraftDialogs
          workflowId={workflowId}
          draft={draft}
          save={saved}
          onGoTo={goTo}
          publishing={publishing === 'open'}
          onPublishClosed={() => setPublishing('closed')}
          resolving={resolving}
          onResolveClosed={() => setResolving(false)}
          describing={
            dialog?.kind === 'describe' ? { catalog, onApplied: showDescribed, onClose: () => setDialog(null) } : null
          }
          readOnly={readOnly}
        />
      </div>
    </EditorActionsProvider>
  )
})
