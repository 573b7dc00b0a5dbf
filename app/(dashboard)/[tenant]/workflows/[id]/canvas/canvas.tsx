'use client'
import {
  type AriaLabelConfig,
  Background,
  BackgroundVariant,
  ConnectionLineType,
  type NodeChange,
  ReactFlow,
  useReactFlow,
} from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import { useMediaQuery, useReducedMotion } from '@mantine/hooks'
import dynamic from 'next/dynamic'
import { memo, type Ref, useCallback, useEffect, useImperativeHandle, useMemo, useRef, useState } from 'react'
import { loadQuiet, nothing } from '@/app/_ui/part'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { useEditorActions } from '../actions/editor-actions'
import type { CanvasHandle } from '../actions/screen'
import type { StepProblems } from '../draft/use-problems'
import { type Layout, nameOf, START } from '../model/definition'
import { NODE_HEIGHT, NODE_WIDTH } from '../model/layout-request'
import type { TestedSteps } from '../parts/tested'
import { BodyHulls } from './body-hulls'
import styles from './canvas.module.css'
import { GraphMap, RefusalHint, ZoomBar } from './canvas-overlay'
import { StepEdge } from './edge'
import { isInView, showFirst, WHOLE } from './first-view'
import { END, endPosition, graphEdges, graphExits, lanesIn, neighboursOf } from './graph'
import { GRAPH_ID } from './graph-id'
import { bodiesOf } from './hulls'
import { EndNode, type FlowNode, StartNode, StepNode } from './node'
import { useCanvasEvents } from './use-canvas-events'
import { useCanvasKeys } from './use-canvas-keys'
import { useFlowEdges, useFlowNodes } from './use-flow-nodes'

const CanvasMarks = dynamic(() => loadQuiet(() => import('./marks').then((module) => module.CanvasMarks)), {
  ssr: false,
  loading: nothing,
})

const nodeTypes = { step: StepNode, start: StartNode, end: EndNode }
const edgeTypes = { step: StepEdge }
const READABLE = 0.6
/** Held while clicking, they add to the selection. */
const SEVERAL = ['Meta', 'Control', 'Shift']

const labels: Partial<AriaLabelConfig> = {
  // Pixels mean nothing to a screen reader; the editor announces moves itself.
  'node.a11yDescription.ariaLiveMessage': () => '',
  'edge.a11yDescription.default': '',
  'minimap.ariaLabel': 'Map of the graph',
  'handle.ariaLabel': 'Connection point',
}

interface Props {
  ref: Ref<CanvasHandle>
  definition: Definition
  catalog: Catalog
  layout: Layout
  selection: readonly string[]
  problems: StepProblems
  /** The shown test run's result for each step; null without one. */
  tested: TestedSteps | null
  readOnly: boolean
}

/** The graph. The outline and the keyboard can do everything that it can. */
export const Canvas = memo(function Canvas(props: Props) {
  const { ref, definition, catalog, layout, selection, problems, tested, readOnly } = props
  const actions = useEditorActions()
  const flow = useReactFlow()
  const reducedMotion = useReducedMotion()
  const wide = useMediaQuery('(min-width: 80em)')
  const host = useRef<HTMLDivElement>(null)
  const [dragged, setDragged] = useState<Layout>({})
  const waiting = useRef<Layout>({})
  const frame = useRef(0)
  const [targets, setTargets] = useState<ReadonlySet<string> | null>(null)
  const [focused, setFocused] = useState(START)
  const latest = useRef({ definition, layout, selection })
  latest.current = { definition, layout, selection }
  const shownLayout = useRef(layout)
  shownLayout.current = layout

  const exits = useMemo(() => graphExits(definition, catalog), [definition, catalog])
  const drawn = useMemo(() => graphEdges(definition, catalog, exits), [definition, catalog, exits])
  const end = useMemo(() => endPosition(drawn, layout, exits), [drawn, layout, exits])
  const lanes = useMemo(() => lanesIn(drawn, exits, layout, end), [drawn, exits, layout, end])
  const bodies = useMemo(() => bodiesOf(definition, catalog), [definition, catalog])
  const neighbours = useMemo(() => neighboursOf(drawn), [drawn])
  const names = useMemo(() => new Map(definition.steps.map((step) => [step.id, nameOf(step)])), [definition])
  const current = focused === END || names.has(focused) ? focused : START
  const nodes = useFlowNodes({
    definition,
    catalog,
    edges: drawn,
    exits,
    layout,
    end,
    dragged,
    selection,
    current,
    problems,
    tested,
    targets,
    readOnly,
  })
  const edges = useFlowEdges(definition, drawn, lanes, readOnly)

  const focusNode = useCallback((id: string) => {
    setFocused(id)
    // The node may be new, and is rendered with the next paint.
    requestAnimationFrame(() => {
      const nodes = host.current?.querySelectorAll<HTMLElement>('.react-flow__node') ?? []
      Array.from(nodes)
        .find((node) => node.dataset.id === id)
        ?.focus()
    })
  }, [])
  const onKeyDown = useCanvasKeys({
    current,
    setCurrent: focusNode,
    neighbours,
    names,
    layout: shownLayout,
    actions,
    readOnly,
  })

  // The Tab key moves to the step selected elsewhere (outline, problems).
  const [only] = selection.length === 1 ? selection : []
  useEffect(() => {
    if (only !== undefined) setFocused(only)
  }, [only])

  const animate = reducedMotion ? {} : { duration: 150 }
  useImperativeHandle(ref, () => ({
    fit: () => void flow.fitView({ ...WHOLE, ...animate }),
    naturalSize: () => void flow.zoomTo(1, animate),
    show: (stepId) => {
      const at = shownLayout.current[stepId]
      const box = host.current?.getBoundingClientRect()
      if (at && box && !isInView(flow.flowToScreenPosition(at), box, flow.getZoom()))
        void flow.setCenter(at.x + NODE_WIDTH / 2, at.y + NODE_HEIGHT / 2, { zoom: flow.getZoom(), ...animate })
      focusNode(stepId)
    },
  }))

  async function showInitialView() {
    const start = latest.current.layout[START] ?? { x: 0, y: 0 }
    await showFirst(flow, { readable: READABLE, height: host.current?.clientHeight ?? 0, start })
  }

  const onNodesChange = useCallback(
    (changes: NodeChange<FlowNode>[]) => {
      const moved: Layout = {}
      let chosen: Set<string> | null = null
      let ended = false
      for (const change of changes) {
        if (change.type === 'position' && change.position) {
          moved[change.id] = { x: Math.round(change.position.x), y: Math.round(change.position.y) }
          if (change.dragging === false) ended = true
        } else if (change.type === 'select') {
          chosen ??= new Set(latest.current.selection)
          if (change.selected) chosen.add(change.id)
          else chosen.delete(change.id)
        }
      }
      if (chosen) actions.select([...chosen].filter((id) => id !== END))
      if (Object.keys(moved).length === 0) return
      cancelAnimationFrame(frame.current)
      waiting.current = ended ? {} : { ...waiting.current, ...moved }
      if (ended) {
        setDragged({})
        actions.move(moved)
        return
      }
      // Once per frame, however often the pointer moves.
      frame.current = requestAnimationFrame(() => setDragged(waiting.current))
    },
    [actions],
  )

  const { events, reasonFor } = useCanvasEvents({
    latest,
    catalog,
    actions,
    host,
    setTargets,
    setFocused,
    readOnly,
  })

  return (
    <div ref={host} id={GRAPH_ID} tabIndex={-1} className={styles.canvas}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        onNodesChange={onNodesChange}
        onKeyDown={onKeyDown}
        {...events}
        nodesFocusable={false}
        edgesFocusable={false}
        disableKeyboardA11y
        deleteKeyCode={null}
        zoomOnDoubleClick={false}
        // The form next to the graph takes longer than a frame to render, and a drag does not need it.
        selectNodesOnDrag={false}
        connectOnClick={false}
        connectionRadius={28}
        // A click on an exit adds a step, even with a slightly unsteady hand.
        connectionDragThreshold={4}
        connectionLineType={ConnectionLineType.SmoothStep}
        nodesConnectable={!readOnly}
        minZoom={0.1}
        maxZoom={2}
        onInit={() => void showInitialView()}
        ariaLabelConfig={labels}
        multiSelectionKeyCode={SEVERAL}
        aria-label="Workflow graph"
        aria-describedby="graph-keys"
      >
        <span id="graph-keys" className="visually-hidden">
          Use the arrow keys to follow connections, type letters to jump to a step by name, press Enter to open it
          {readOnly ? '.' : ', A to add a step after it, L to connect it.'}
        </span>
        <Background variant={BackgroundVariant.Dots} gap={16} size={1} />
        <BodyHulls bodies={bodies} nodes={nodes} />
        <CanvasMarks nodes={nodes} />
        <ZoomBar animate={!reducedMotion} />
        <RefusalHint reasonFor={reasonFor} />
        {wide && definition.steps.length > 3 && <GraphMap nodes={nodes} />}
      </ReactFlow>
    </div>
  )
})
