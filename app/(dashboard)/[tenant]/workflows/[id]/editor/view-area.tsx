'use client'
import { Skeleton } from '@mantine/core'
import dynamic from 'next/dynamic'
import type { RefObject } from 'react'
import { inPlace, loadPart } from '@/app/_ui/part'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import type { Problem } from '@/server/workflows/check/problem'
import type { CanvasHandle } from '../actions/screen'
import type { ScreenActions } from '../actions/use-editor-actions'
import { Canvas } from '../canvas/canvas'
import type { StepProblems } from '../draft/use-problems'
import type { Layout } from '../model/definition'
import type { TestedSteps } from '../parts/tested'
import type { JsonViewProps } from '../views/json-view'
import type { ListViewProps } from '../views/list-view'
import type { OutlineViewProps } from '../views/outline-view'
import styles from './editor.module.css'
import { FirstStep } from './first-step'
import type { View } from './toolbar'

const JsonView = dynamic<JsonViewProps>(
  () => loadPart(() => import('../views/json-view').then((module) => module.JsonView)),
  { ssr: false, loading: inPlace(<Skeleton height="100%" radius={0} />) },
)

/** Most users stay with the graph. */
const OutlineView = dynamic<OutlineViewProps>(
  () => loadPart(() => import('../views/outline-view').then((module) => module.OutlineView)),
  { loading: inPlace(<Skeleton height="100%" radius={0} />) },
)

const ListView = dynamic<ListViewProps>(
  () => loadPart(() => import('../views/list-view').then((module) => module.ListView)),
  { loading: inPlace(<Skeleton height="100%" radius={0} />) },
)

/** The workflow as a graph, a list, an outline or JSON. Every view but the list can do everything. */
export function ViewArea(props: {
  view: View
  canvas: RefObject<CanvasHandle | null>
  definition: Definition
  catalog: Catalog
  /** Null while it is being computed. */
  shown: Layout | null
  selection: readonly string[]
  check: { problems: Problem[]; byStep: StepProblems }
  tested: TestedSteps | null
  actions: ScreenActions
  readOnly: boolean
  onApply: (definition: Definition) => void
  onDescribe: () => void
  /** A sentence about the latest action. */
  message: string | null
}) {
  const { view, canvas, shown, check, tested, onApply, onDescribe, message, ...rest } = props
  const { definition, catalog, actions, selection, readOnly } = rest
  return (
    <div className={`${styles.view} ${view === 'graph' ? styles.graph : ''}`}>
      {view === 'graph' && shown === null && (
        <Skeleton height="100%" radius={0} aria-label="Arranging the steps" role="status" />
      )}
      {view === 'graph' && shown && (
        <Canvas
          ref={canvas}
          definition={definition}
          catalog={catalog}
          layout={shown}
          selection={selection}
          problems={check.byStep}
          tested={tested}
          readOnly={readOnly}
        />
      )}
      {view === 'graph' && definition.steps.length === 0 && !readOnly && (
        <FirstStep catalog={catalog} actions={actions} onDescribe={onDescribe} />
      )}
      {view === 'list' && (
        <ListView
          definition={definition}
          catalog={catalog}
          selection={selection}
          problems={check.byStep}
          tested={tested}
          actions={actions}
        />
      )}
      {view === 'outline' && <OutlineView {...rest} problems={check.byStep} />}
      {view === 'json' && (
        <JsonView
          definition={definition}
          catalog={catalog}
          problems={check.problems}
          readOnly={readOnly}
          onApply={onApply}
        />
      )}
      {message !== null && <div className={styles.message}>{message}</div>}
    </div>
  )
}
