'use client'
import { Skeleton } from '@mantine/core'
import { useReducedMotion } from '@mantine/hooks'
import { Background, BackgroundVariant, ReactFlow, type ReactFlowInstance } from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import { type KeyboardEvent, useMemo, useRef, useState } from 'react'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import type { StepProblems } from '../draft/use-problems'
import { type Layout, START } from '../model/definition'
import { NODE_HEIGHT, NODE_WIDTH } from '../model/exit-row'
import { BodyHulls } from './body-hulls'
import styles from './canvas.module.css'
import { ZoomBar } from './canvas-overlay'
import { StepEdge, type StepFlowEdge } from './edge'
import { markFar } from './far'
import { isInView, showFirst, WHOLE } from './first-view'
import { arrowTarget, END, endPosition, graphEdges, graphExits, lanesIn, neighboursOf } from './graph'
import { bodiesOf } from './hulls'
import { EndNode, type FlowNode, StartNode, StepNode } from './node'
import type { StepShows } from './step-card'
import { ARROW, useFlowEdges, useFlowNodes } from './use-flow-nodes'
import { useShownLayout } from './use-shown-layout'

const nodeTypes = { step: StepNode, start: StartNode, end: EndNode }
const edgeTypes = { step: StepEdge }
/** Below this zoom, a run's figures are hard to read. The editor goes lower: edits need to show more of the graph. */
const READABLE = 0.85

const NOTHING: StepProblems = new Map()
const AT_REST: Layout = {}

/** How often each exit of each node was taken. */
export type Taken = ReadonlyMap<string, ReadonlyMap<string, number>>

/** A step's figures, also in words for screen readers. */
export type Said = StepShows & { words: string }

interface Props {
  /** The graph's accessible name. */
  label: string
  definition: Definition
  catalog: Catalog
  /** The node positions from the editor. */
  layout: Layout
  said: ReadonlyMap<string, Said>
  taken?: Taken
  selected?: string | null
  /** The step shown first if the whole graph would be too small; by default START. */
  begin?: string | null
  /** Gets the id of a step, START or END. */
  onOpen?: (nodeId: string) => void
}

/** The editor's canvas, read-only: the same nodes and lines, with figures of one or many runs for each. */
export function StillGraph({
  label,
  definition,
  catalog,
  layout,
  said,
  taken,
  selected = null,
  begin = null,
  onOpen,
}: Props) {
  const host = useRef<HTMLElement>(null)
  const reducedMotion = useReducedMotion()
  const first = begin !== null && definition.steps.some(({ id }) => id === begin) ? begin : START
  const [focused, setFocused] = useState(first)
  const shown = useShownLayout({ definition, layout }, catalog)
  const at = shown ?? AT_REST
  const exits = useMemo(() => graphExits(definition, catalog), [definition, catalog])
  const drawn = useMemo(() => graphEdges(definition, catalog, exits), [definition, catalog, exits])
  const end = useMemo(() => endPosition(drawn, at, exits), [drawn, at, exits])
  const lanes = useMemo(() => lanesIn(drawn, exits, at, end), [drawn, exits, at, end])
  const bodies = useMemo(() => bodiesOf(definition, catalog), [definition, catalog])
  const neighbours = useMemo(() => neighboursOf(drawn), [drawn])
  const selection = useMemo(() => (selected === null ? [] : [selected]), [selected])
  const placed = useFlowNodes({
    definition,
    catalog,
    edges: drawn,
    exits,
    layout: at,
    end,
    dragged: AT_REST,
    selection,
    current: focused,
    problems: NOTHING,
    tested: null,
    targets: null,
    readOnly: true,
  })
  const nodes = useMemo(
    () =>
      placed.map((node) => {
        const of = said.get(node.id)
        if (node.type !== 'step' || !of) return node
        const { words, ...shows } = of
        const data = { ...node.data, ...shows, taken: JSON.stringify([...(taken?.get(node.id) ?? [])]) }
        return { ...node, data, ariaLabel: [node.data.type, node.data.name, words].filter(Boolean).join(', ') }
      }),
    [placed, said, taken],
  )
  const plain = useFlowEdges(definition, drawn, lanes, true)
  const edges = useMemo((): StepFlowEdge[] => {
    if (!taken) return plain
    return plain.map((edge) => {
      const times = taken.get(edge.source)?.get(edge.sourceHandle ?? 'next') ?? 0
      const went = times > 0 ? { markerEnd: { ...ARROW, color: 'var(--status-completed)' }, zIndex: 1 } : {}
      return { ...edge, ...went, ...(edge.data ? { data: { ...edge.data, times } } : {}) }
    })
  }, [plain, taken])

  const flow = useRef<ReactFlowInstance<FlowNode, StepFlowEdge>>(null)
  const animate = reducedMotion ? {} : { duration: 150 }
  /** The browser does not scroll to a node outside the canvas's view. */
  const show = (id: string) => {
    const place = id === END ? end : at[id]
    const box = host.current?.getBoundingClientRect()
    if (!place || !box || !flow.current) return
    const zoom = flow.current.getZoom()
    if (isInView(flow.current.flowToScreenPosition(place), box, zoom)) return
    void flow.current.setCenter(place.x + NODE_WIDTH / 2, place.y + NODE_HEIGHT / 2, { zoom, ...animate })
  }

  function onKeyDown(event: KeyboardEvent) {
    const { key, target } = event
    if (!(target instanceof HTMLElement) || !target.classList.contains('react-flow__node')) return
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const id = target.dataset.id ?? START
    if (key === 'Enter' || key === ' ') {
      event.preventDefault()
      onOpen?.(id)
      return
    }
    const to = arrowTarget(neighbours, id, key)
    if (to === null) return
    event.preventDefault()
    setFocused(to)
    const all = host.current?.querySelectorAll<HTMLElement>('.react-flow__node') ?? []
    Array.from(all)
      .find((node) => node.dataset.id === to)
      ?.focus()
    show(to)
  }

  if (!shown) return <Skeleton height={420} radius="md" />
  return (
    <section ref={host} className={`${styles.canvas} ${styles.still}`} aria-label={label}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        onInit={(instance) => {
          flow.current = instance
          void showFirst(instance, {
            readable: READABLE,
            height: host.current?.clientHeight ?? 0,
            start: at[START] ?? { x: 0, y: 0 },
            at: first === START ? null : at[first],
          })
        }}
        onKeyDown={onKeyDown}
        onNodeClick={(_event, node) => {
          setFocused(node.id)
          onOpen?.(node.id)
        }}
        onMove={(_event, { zoom }) => markFar(host.current, zoom < FAR ? 'boxes' : null)}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        disableKeyboardA11y
        deleteKeyCode={null}
        preventScrolling={false}
        zoomOnDoubleClick={false}
        minZoom={0.1}
        maxZoom={2}
        fitView
        fitViewOptions={WHOLE}
        proOptions={{ hideAttribution: true }}
        aria-label={label}
        aria-describedby="still-graph-keys"
      >
        <span id="still-graph-keys" className="visually-hidden">
          Use the arrow keys to follow connections{onOpen ? ', Enter to open a step.' : '.'}
        </span>
        <Background variant={BackgroundVariant.Dots} gap={16} size={1} />
        <BodyHulls bodies={bodies} nodes={nodes} />
        <ZoomBar animate={!reducedMotion} />
      </ReactFlow>
    </section>
  )
}

/** Below this zoom the cards' text is unreadable. A read-only graph keeps its colours. */
const FAR = 0.3
