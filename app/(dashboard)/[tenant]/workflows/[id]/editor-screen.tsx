'use client'
import { ActionIcon, Button, Drawer } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { CircleAlert, Plus, X } from 'lucide-react'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { notifyDone } from '@/app/_ui/notify'
import { useUrlState } from '@/app/_ui/use-url-state'
import type { Catalog } from '@/server/steps/catalog'
import type { Draft as Presented } from '@/server/workflows/get-draft'
import type { Problem } from '@/server/workflows/graph'
import type { Definition } from '@/server/workflows/schema'
import { useTenant } from '../../tenant-context'
import { Canvas, type CanvasHandle } from './canvas'
import styles from './editor.module.css'
import { EditorActionsProvider } from './editor-actions'
import { EditorDialogs } from './editor-dialogs'
import { focusField } from './focus-field'
import { EditorHeader } from './header'
import { findStep, START } from './model/definition'
import { copySteps } from './model/fragment'
import { redoLabel, undoLabel } from './model/history'
import { OutlineView, outlineId } from './outline-view'
import { ProblemsPanel } from './problems-panel'
import { RestoreDialog } from './restore-dialog'
import { SaveStateText } from './save-state'
import { SidePanel } from './side-panel'
import { Toolbar, type View } from './toolbar'
import { useAnnouncer } from './use-announcer'
import { useDraft } from './use-draft'
import { loadedOf, useDraftServer } from './use-draft-server'
import { type EditorDialog, useScreenActions } from './use-editor-actions'
import { useEditorKeys } from './use-editor-keys'
import { useProblems } from './use-problems'
import { useShownLayout } from './use-shown-layout'
import { useUnpublished } from './use-unpublished'

const VIEWS: readonly View[] = ['graph', 'outline']

/** The editor with a workflow in it. */
export function EditorScreen({ workflow, catalog }: { workflow: Presented; catalog: Catalog }) {
  const { id: workflowId } = workflow
  const tenant = useTenant()
  const url = useUrlState()
  const phone = useMediaQuery('(max-width: 48em)') ?? false
  const archived = workflow.status === 'archived'
  const reason = archived
    ? 'This workflow is archived, so it cannot be changed.'
    : tenant.may('workflow:write')
      ? null
      : `With the role ${tenant.role} you can look at it, but not change it.`
  const readOnly = reason !== null
  const draft = useDraft({
    tenantId: tenant.id,
    workflowId,
    loaded: useMemo(() => loadedOf(workflow), [workflow]),
    server: useDraftServer(workflowId),
    readOnly,
    onMerged: notifyDone,
  })
  const { history, publishedVersion, save } = draft.state
  const { definition } = history.present
  const shown = useShownLayout(history.present)
  const check = useProblems(definition)
  const unpublished = useUnpublished(workflowId, publishedVersion, definition)
  const { told, announce } = useAnnouncer()
  const [dialog, setDialog] = useState<EditorDialog | null>(null)
  const [sheet, setSheet] = useState(false)
  const canvas = useRef<CanvasHandle>(null)

  const view = viewOf(url.get('view'), phone)
  const panel = url.get('panel')
  const [chosen, setChosen] = useState<readonly string[]>(() => (url.get('step') === '' ? [] : [url.get('step')]))
  const selection = useMemo(
    () => chosen.filter((id) => id === START || findStep(definition, id) !== undefined),
    [chosen, definition],
  )
  const setSelection = useCallback(
    (stepIds: readonly string[]) => {
      setChosen((before) => (before.join() === stepIds.join() ? before : stepIds))
      url.set({ step: stepIds.length === 1 ? (stepIds[0] ?? null) : null })
    },
    [url.set],
  )
  const focusStep = (stepId: string) =>
    // A dialog that closes gives the focus back to what opened it; this comes after.
    void setTimeout(() => {
      if (view === 'graph') canvas.current?.show(stepId)
      else document.getElementById(outlineId(stepId))?.focus()
    }, 80)
  const actions = useScreenActions({
    draft,
    catalog,
    shown,
    selection,
    readOnly,
    canvas: canvas.current,
    setSelection,
    setDialog,
    openForm(_stepId, field) {
      if (phone) setSheet(true)
      setTimeout(() => focusField(field), 120)
    },
    announce,
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
  function goTo({ stepId, field }: Pick<Problem, 'stepId' | 'field'>) {
    if (stepId !== undefined) actions.open(stepId, field)
    else if (field?.startsWith('payload')) actions.open(START, field)
    else {
      setSelection([])
      setTimeout(() => focusField(field), 50)
    }
  }
  const announcedProblems = useRef('')
  const errors = check.problems.filter(({ severity }) => severity === 'error').length
  useEffect(() => {
    const text = errors === 0 ? 'No errors' : errors === 1 ? '1 error' : `${errors} errors`
    if (announcedProblems.current !== '' && announcedProblems.current !== text) announce(`${text}.`)
    announcedProblems.current = text
  }, [errors, announce])

  const form = (
    <SidePanel
      workflowId={workflowId}
      definition={definition}
      catalog={catalog}
      selection={selection}
      problems={check.problems}
      actions={actions}
      onRedefine={redefine}
      readOnly={readOnly}
    />
  )
  return (
    <EditorActionsProvider value={actions}>
      <div className={styles.screen}>
        <EditorHeader
          name={definition.name}
          publishedVersion={publishedVersion}
          unpublished={unpublished}
          archived={archived}
          reason={reason}
          saveState={<SaveStateText save={save} onRetry={() => void draft.saveNow()} onConflict={() => undefined} />}
          actions={null}
        />
        <Toolbar
          view={view}
          views={VIEWS}
          onView={(next) => url.set({ view: next })}
          undo={undoLabel(history)}
          redo={redoLabel(history)}
          onUndo={draft.undo}
          onRedo={draft.redo}
          onAdd={actions.add}
          onTidy={actions.tidy}
          onFind={actions.openFind}
          onKeys={() => setDialog({ kind: 'keys' })}
          readOnly={readOnly}
          panels={
            <Button
              size="xs"
              variant={panel === 'problems' ? 'light' : 'default'}
              aria-expanded={panel === 'problems'}
              leftSection={<CircleAlert size={16} aria-hidden />}
              onClick={() => url.set({ panel: panel === 'problems' ? null : 'problems' })}
            >
              Problems {check.problems.length}
            </Button>
          }
        />
        <div className={styles.body}>
          <div className={styles.main}>
            <div className={`${styles.view} ${view === 'graph' ? styles.graph : ''}`}>
              {view === 'graph' && shown && (
                <Canvas
                  ref={canvas}
                  definition={definition}
                  catalog={catalog}
                  layout={shown}
                  selection={selection}
                  problems={check.byStep}
                  readOnly={readOnly}
                />
              )}
              {view === 'graph' && definition.steps.length === 0 && !readOnly && (
                <FirstStep
                  catalog={catalog}
                  onAdd={() => actions.addAt({ after: START, exit: 'next' })}
                  onChoose={(type) => actions.choose(type, { after: START, exit: 'next' }, null)}
                />
              )}
              {view === 'outline' && (
                <OutlineView
                  definition={definition}
                  catalog={catalog}
                  selection={selection}
                  problems={check.byStep}
                  actions={actions}
                  readOnly={readOnly}
                />
              )}
              {told?.visible && <div className={styles.told}>{told.text}</div>}
            </div>
            {panel === 'problems' && (
              <section className={styles.bottom} aria-label="Problems">
                <div className={styles.bottomHead}>
                  <h2 className={styles.bottomTitle}>Problems</h2>
                  <ActionIcon
                    variant="subtle"
                    color="gray"
                    aria-label="Close problems"
                    onClick={() => url.set({ panel: null })}
                  >
                    <X size={16} aria-hidden />
                  </ActionIcon>
                </div>
                <ProblemsPanel problems={check.problems} checked={check.checked} error={check.error} onGo={goTo} />
              </section>
            )}
          </div>
          {phone ? (
            <Drawer
              opened={sheet && selection.length === 1}
              onClose={() => setSheet(false)}
              position="bottom"
              size="100%"
              title={selection[0] === START ? 'START' : 'Step'}
            >
              {form}
            </Drawer>
          ) : (
            <aside className={styles.side} aria-label="Inspector">
              {form}
            </aside>
          )}
        </div>
        <div aria-live="polite" className="visually-hidden">
          {told?.text}
        </div>
        <EditorDialogs
          dialog={dialog}
          setDialog={setDialog}
          definition={definition}
          catalog={catalog}
          actions={actions}
          onRedefine={redefine}
          onFind={(stepId) => {
            setSelection([stepId])
            focusStep(stepId)
          }}
        />
        {!readOnly && (
          <RestoreDialog
            tenantId={tenant.id}
            workflowId={workflowId}
            definition={draft.state.base.definition}
            onRestore={draft.restore}
          />
        )}
      </div>
    </EditorActionsProvider>
  )
}

/** An empty workflow: what to do first. */
function FirstStep({
  catalog,
  onAdd,
  onChoose,
}: {
  catalog: Catalog
  onAdd: () => void
  onChoose: (type: string) => void
}) {
  return (
    <div className={styles.empty}>
      <div className={styles.emptyCard}>
        <Button leftSection={<Plus size={16} aria-hidden />} onClick={onAdd}>
          Add first step
        </Button>
        <div className={styles.common}>
          {catalog.steps.slice(0, 4).map(({ type, title }) => (
            <Button key={type} variant="default" size="xs" onClick={() => onChoose(type)}>
              {title}
            </Button>
          ))}
        </div>
      </div>
    </div>
  )
}

function viewOf(text: string, phone: boolean): View {
  return VIEWS.find((view) => view === text) ?? (phone ? 'outline' : 'graph')
}
