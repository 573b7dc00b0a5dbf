'use client'
import { Skeleton } from '@mantine/core'
import { useReducedMotion } from '@mantine/hooks'
import { Background, BackgroundVariant, ReactFlow, type ReactFlowInstance } from '@xyflow/react'
import '@xyflow/react/dist/base.css'
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import type { StepProblems } from '../draft/use-problems'
import { type Layout, START } from '../model/definition'
import { NODE_HEIGHT, NODE_WIDTH, type ShownExit } from '../model/exit-row'
import type { Mark } from '../parts/change-mark'
import { BodyHulls } from './body-hulls'
import styles from './canvas.module.css'
import { ZoomBar } from './canvas-overlay'
import { StepEdge, type StepFlowEdge } from './edge'
import { markFar } from './far'
import { isInView, showFirst, WHOLE } from './first-view'
import { arrowTarget, END, endPosition, type GraphEdge, graphEdges, graphExits, lanesIn, neighboursOf } from './graph'
import { type Body, bodiesOf } from './hulls'
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

/** The parts of a graph that are drawn. */
export interface Drawn {
  exits: Map<string, ShownExit[]>
  edges: GraphEdge[]
  bodies: Body[]
}

function drawnIn(definition: Definition, catalog: Catalog): Drawn {
  const exits = graphExits(definition, catalog)
  return { exits, edges: graphEdges(definition, catalog, exits), bodies: bodiesOf(definition, catalog) }
}

interface Props {
  /** The graph's accessible name. */
  label: string
  definition: Definition
  catalog: Catalog
  /** The node positions from the editor. */
  layout: Layout
  /** The figures of each step, and of START. */
  said: ReadonlyMap<string, Said>
  taken?: Taken
  /** What differs on some lines, by their ids; the words stand on the line. */
  lines?: ReadonlyMap<string, { mark: Mark; words: string }>
  /** Lines and exits that differ from those of the definition, as those of two definitions do. */
  drawn?: Drawn | undefined
  selected?: string | null
  /** The step shown first if the whole graph would be too small; by default START. */
  begin?: string | null
  /** Whether the view, and the focus of the keyboard on a step, go to what is selected. */
  follow?: boolean
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
  lines,
  drawn: given,
  selected = null,
  begin = null,
  follow = false,
  onOpen,
}: Props) {
  const host = useRef<HTMLElement>(null)
  const reducedMotion = useReducedMotion()
  const first = begin !== null && definition.steps.some(({ id }) => id === begin) ? begin : START
  const [focused, setFocused] = useState(first)
  const shown = useShownLayout({ definition, layout }, catalog)
  const at = shown ?? AT_REST
  const {
    exits,
    edges: drawn,
    bodies,
  } = useMemo(() => given ?? drawnIn(definition, catalog), [given, definition, catalog])
  const end = useMemo(() => endPosition(drawn, at, exits), [drawn, at, exits])
  const lanes = useMemo(() => lanesIn(drawn, exits, at, end), [drawn, exits, at, end])
  const neighbours = useMemo(() => neighboursOf(drawn), [drawn])
  const selection = useMemo(() => (selected === null ? [] : [selected]), [selected])
  // A screen reader hears where a step leads, not where it led.
  const leading = useMemo(
    () => drawn.filter(({ id }) => !['removed', 'was'].includes(lines?.get(id)?.mark ?? '')),
    [drawn, lines],
  )
  const placed = useFlowNodes({
    definition,
    catalog,
    edges: leading,
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
        if (node.type === 'end' || !of) return node
        const { words, ...shows } = of
        if (node.type === 'start') {
          const { mark, note } = shows
          const marked = { ...(mark ? { mark } : {}), ...(note ? { note } : {}) }
          return { ...node, data: { ...node.data, ...marked }, ariaLabel: `${node.ariaLabel}, ${words}` }
        }
        const data = { ...node.data, ...shows, taken: JSON.stringify([...(taken?.get(node.id) ?? [])]) }
        return { ...node, data, ariaLabel: [node.data.type, node.data.name, words].filter(Boolean).join(', ') }
      }),
    [placed, said, taken],
  )
  const plain = useFlowEdges(definition, drawn, lanes, true)
  const edges = useMemo((): StepFlowEdge[] => {
    if (!taken && !lines) return plain
    return plain.map((edge) => {
      const times = taken ? (taken.get(edge.source)?.get(edge.sourceHandle ?? 'next') ?? 0) : undefined
      const line = lines?.get(edge.id)
      const marked = line ? { markerEnd: { ...ARROW, color: `var(--mark-${line.mark})` } } : {}
      const went = times ? { markerEnd: { ...ARROW, color: 'var(--status-completed)' }, zIndex: 1 } : marked
      const shows = {
        ...(times === undefined ? {} : { times }),
        ...(line ? { mark: line.mark, words: line.words } : {}),
      }
      return { ...edge, ...went, ...(edge.data ? { data: { ...edge.data, ...shows } } : {}) }
    })
  }, [plain, taken, lines])

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

  const focusNode = (id: string) => {
    const all = host.current?.querySelectorAll<HTMLElement>('.react-flow__node') ?? []
    Array.from(all)
      .find((node) => node.dataset.id === id)
      ?.focus()
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: only when something else is selected
  useEffect(() => {
    if (!follow || selected === null) return
    setFocused(selected)
    if (host.current?.querySelector('.react-flow__node:focus')) focusNode(selected)
    show(selected)
  }, [follow, selected])

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
    focusNode(to)
    show(to)
  }

  if (!shown) return <Skeleton height={420} radius="md" />
  return (
    <section ref={host} className={`${styles.canvas} ${styles.still}`} aria-label={label}>
      <ReactFlow
        // The editor's own canvas may be on the same page.
        id="still"
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
